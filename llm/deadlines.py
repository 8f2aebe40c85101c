"""The deadlines of one call: to the first piece, between two pieces, and for all of it."""

import asyncio
import time
from collections.abc import Awaitable
from typing import TypeVar

from django.conf import settings

from llm.errors import ModelTimeout

T = TypeVar("T")


class Clock:
    """Counts the time spent waiting for the endpoint, not the time its reader takes.

    Only a piece of the answer earns more patience: an endpoint that sends comments or empty chunks is silent.
    """

    def __init__(self) -> None:
        limits = settings.LLM_DEADLINES
        self.connect: float = limits["connect"]
        self._first_token, self._idle = limits["first_token"], limits["idle"]
        self._end: float = time.monotonic() + limits["total"]
        self._patience: float = self._first_token

    def attempt(self) -> None:
        """Another attempt begins: it may take as long to its first piece as the one before."""
        self._patience = self._first_token

    def piece(self) -> None:
        """A piece of the answer came."""
        self._patience = self._idle

    def allows(self, delay: float) -> bool:
        """Whether `delay` seconds from now there is time left."""
        return time.monotonic() + delay < self._end

    async def within(self, awaited: Awaitable[T]) -> T:
        """What `awaited` gives. Raises ModelTimeout, and cancels it, when it outlasts the patience left."""
        started = time.monotonic()
        try:
            async with asyncio.timeout(min(self._patience, self._end - started)):
                return await awaited
        except TimeoutError as error:
            raise ModelTimeout from error
        finally:
            self._patience -= time.monotonic() - started
