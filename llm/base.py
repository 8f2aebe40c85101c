"""The contract of a provider, kept by `llm.openai` and `llm.offline`; tests/contracts/ holds them to it.

A provider is a module that turns one request into one stream, once: no retries and no fallback, which are
`llm.attempts`' work.

- It yields chunks as they come; text is safe (`llm.text.safe`), thinking is in `reasoning`, never in `text`.
- The last chunk, and only that one, has `finish_reason`, `usage`, `model` and the complete `tool_calls`.
- It raises nothing but `ProviderError`s. An answer with neither text nor tool call is `ModelEmpty`, a request
  without any words `ModelRejected`.
- It waits for the outside only inside `clock.within()`, and tells the clock of each piece.
- Closing the generator ends the request at once, so that a stopped model stops working.
- It keeps nothing between calls that depends on a request, and may be used from any number of event loops.
"""

from collections.abc import AsyncGenerator
from importlib import import_module
from typing import Protocol, cast

from llm.deadlines import Clock
from llm.profile import Profile
from llm.types import ChatRequest, Chunk


class Provider(Protocol):
    def stream(self, request: ChatRequest, *, profile: Profile, clock: Clock) -> AsyncGenerator[Chunk]:
        """The answer, piece by piece."""


def provider(name: str) -> Provider:
    """The provider module of that name, imported on first use: a client library takes a second to load."""
    return cast(Provider, import_module(f"llm.{name}"))
