"""Which model answers: its address, its limits and its peculiarities, as one value."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from django.conf import settings

OPENAI_BASE_URL = "https://api.openai.com/v1"

OutputLimitField = Literal["max_tokens", "max_completion_tokens"]
ThinkingKey = Literal["", "enable_thinking", "chat_template_kwargs", "thinking"]
ReplayPolicy = Literal["never", "with_tools", "always"]


@dataclass(frozen=True, slots=True)
class Profile:
    """One model behind one address.

    `context_tokens` is what prompt and answer may take together, `max_output_tokens` the most that an answer
    may, thinking included. `output_limit_field`, `thinking_key`, `reasoning_replay` and `extra_body` say what
    this endpoint wants; docs/models.md explains each. `fallback` answers when this model cannot begin to.
    """

    name: str
    provider: Literal["openai", "offline"] = "openai"
    base_url: str = OPENAI_BASE_URL
    api_key: str = field(default="", repr=False)
    model: str = ""
    context_tokens: int = 32_768
    max_output_tokens: int = 4_096
    output_limit_field: OutputLimitField = "max_tokens"
    thinking_key: ThinkingKey = ""
    reasoning_replay: ReplayPolicy = "never"
    extra_body: Mapping[str, Any] = field(default_factory=dict, hash=False)
    fallback: "Profile | None" = None

    def chain(self) -> Iterator["Profile"]:
        """This profile, its fallback, the fallback's, and so on."""
        profile: Profile | None = self
        while profile is not None:
            yield profile
            profile = profile.fallback


RECENT_SECONDS = 1.0

OFFLINE = Profile(name="offline", provider="offline", base_url="", model="tacit-demo")
"""The built-in demo model: needs no key and no network."""


@dataclass(frozen=True, slots=True)
class _Recent:
    """What the database said, and until when it is believed (`time.monotonic`)."""

    stored: Profile | None
    until: float


_recent: dict[str | None, _Recent] = {}


def resolve_profile(name: str | None = None) -> Profile:
    """The stored profile of that name, else the stored default, else the environment's, else `OFFLINE`.

    Disabled profiles do not count. Asks the database once. Raises ModelMisconfigured when the key of the
    chosen profile cannot be decrypted.
    """
    from llm.models import ProviderProfile  # models exist only once the app registry is ready

    return ProviderProfile.objects.resolve(name) or from_environment() or OFFLINE


def recent_profile(name: str | None = None) -> Profile:
    """As `resolve_profile`, for those who ask with every message: it may be as old as `RECENT_SECONDS`.

    What is changed in this process counts at once. Another one sees it when its own answer has aged.
    """
    known = _recent.get(name)
    if known is None or known.until < time.monotonic():
        from llm.models import ProviderProfile

        known = _recent[name] = _Recent(ProviderProfile.objects.resolve(name), time.monotonic() + RECENT_SECONDS)
    return known.stored or from_environment() or OFFLINE


def forget_recent(**_: object) -> None:
    """Makes the next `recent_profile` ask the database."""
    _recent.clear()


def from_environment() -> Profile | None:
    """The model that the settings name; None without `LLM_MODEL` or with nothing but it."""
    if not settings.LLM_MODEL or not (settings.LLM_BASE_URL or settings.LLM_API_KEY):
        return None
    return Profile(
        name="environment",
        base_url=settings.LLM_BASE_URL or OPENAI_BASE_URL,
        api_key=settings.LLM_API_KEY,
        model=settings.LLM_MODEL,
    )
