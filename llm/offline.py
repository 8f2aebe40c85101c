"""The built-in demo model: needs no key and no network, and answers the same request always the same."""

import asyncio
import re
from collections.abc import AsyncGenerator

import orjson
from django.conf import settings

from llm.deadlines import Clock
from llm.demo import answer
from llm.demo_json import json_for
from llm.demo_tools import call_for
from llm.errors import ModelRejected
from llm.normalise import normalised
from llm.profile import Profile
from llm.tokens import cut, estimate
from llm.types import ChatRequest, Chunk

PIECES = re.compile(r"[\u3400-\u9fff]{1,2}|[^\s\u3400-\u9fff]+\s*|\s+")
"""A word with the blanks behind it, or two Chinese characters."""


async def stream(request: ChatRequest, *, profile: Profile, clock: Clock) -> AsyncGenerator[Chunk]:
    """See `llm.base`. Calls a tool where the words plainly ask for it; a JSON schema is answered by `llm.demo_json`."""
    messages = normalised(request.messages)
    if not messages:
        raise ModelRejected
    if called := call_for(messages, request.tools):
        usage = estimate(messages, called.arguments)
        yield Chunk(tool_calls=(called,), usage=usage, finish_reason="tool_calls", model=profile.model)
        return
    whole = orjson.dumps(json_for(request.json_schema, messages)).decode() if request.json_schema else answer(messages)
    text = cut(whole, min(request.max_tokens or profile.max_output_tokens, profile.max_output_tokens))
    for piece in PIECES.findall(text):
        await clock.within(asyncio.sleep(settings.LLM_OFFLINE_DELAY))
        clock.piece()
        yield Chunk(text=piece)
    yield Chunk(
        usage=estimate(messages, text),
        finish_reason="stop" if text == whole else "length",
        model=profile.model,
    )
