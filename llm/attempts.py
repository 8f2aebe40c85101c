"""One answer out of several attempts: retries and the fallback model, while nobody has seen a piece yet."""

import asyncio
import random
from collections.abc import AsyncGenerator
from contextlib import aclosing

import structlog
from django.conf import settings

from llm.base import provider
from llm.deadlines import Clock
from llm.errors import ProviderError
from llm.profile import Profile
from llm.types import ChatRequest, Chunk

logger = structlog.get_logger(__name__)

FIRST_DELAY = 0.5
"""Seconds before the first retry; each further one waits twice as long, up to a quarter less by chance."""

LONGEST_DELAY = 20.0
"""An endpoint that asks for more seconds than this is given up, and the fallback asked instead."""


async def stream(request: ChatRequest, *, profile: Profile) -> AsyncGenerator[Chunk]:
    """The answer to `request`, piece by piece; see `llm.base` for what a chunk holds.

    Retries and fallback happen only before the first piece. Close the generator (`contextlib.aclosing`) to
    stop the model. Raises a `ProviderError`: the first model's when no model of the chain could begin.
    """
    attempts = _Attempts(profile)
    while True:
        begun = False
        try:
            async with aclosing(attempts.start(request)) as chunks:
                async for chunk in chunks:
                    begun = True
                    yield chunk
            return
        except ProviderError as error:
            if begun:
                raise
            await attempts.recover(error)


class _Attempts:
    """What has been tried so far, and what to try next."""

    def __init__(self, profile: Profile) -> None:
        self._first = profile
        self._profile, *self._fallbacks = profile.chain()
        self._clock = Clock()
        self._retries = 0
        self._told: ProviderError | None = None

    def start(self, request: ChatRequest) -> AsyncGenerator[Chunk]:
        self._clock.attempt()
        return provider(self._profile.provider).stream(request, profile=self._profile, clock=self._clock)

    async def recover(self, error: ProviderError) -> None:
        """Waits before the next attempt or turns to the fallback; raises when nothing is left to try."""
        if self._profile is self._first:
            self._told = error
        delay = self._delay(error)
        retry = error.retryable and self._retries < settings.LLM_RETRIES and delay <= LONGEST_DELAY
        logger.warning(
            "model call failed", profile=self._profile.name, code=error.code, status=error.status, retry=retry
        )
        if not self._clock.allows(delay if retry else 0) or not (retry or self._fallbacks):
            raise self._told or error
        if retry:
            self._retries += 1
            await asyncio.sleep(delay)
        else:
            self._profile, self._retries = self._fallbacks.pop(0), 0

    def _delay(self, error: ProviderError) -> float:
        if error.retry_after is not None:
            return error.retry_after
        return FIRST_DELAY * 2.0**self._retries * random.uniform(0.75, 1)  # noqa: S311  # jitter, not a secret
