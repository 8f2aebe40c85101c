"""The one bridge from the event loop to synchronous code: a pool of threads, as many as database connections.

Django's own bridge runs everything outside a request in one thread per process (50 calls of 5 ms took 314 ms
there, 38 here), so it is banned in this package.
"""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import connection
from django.utils import translation

from memory.retrieval.lanes import Lanes

P = ParamSpec("P")
T = TypeVar("T")


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(settings.DATABASE_THREADS, thread_name_prefix="turn-work")


@cache
def _recalls() -> Lanes:
    return Lanes(settings.RECALL_THREADS, name="recall")


async def run(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Runs `work` in a thread and gives its database connection back to the pool afterwards.

    Batch what belongs together into one call: each is a hop of its own.
    """
    context, language = contextvars.copy_context(), translation.get_language()

    def call() -> T:
        try:
            return context.run(_speaking, language, partial(work, *args, **kwargs))
        finally:
            if not connection.in_atomic_block:  # a test's transaction lives on
                connection.close()

    return await asyncio.get_running_loop().run_in_executor(_pool(), call)


def _speaking(language: str | None, work: Callable[[], T]) -> T:
    """Runs `work` in the language of whoever asked for it: Django lets none cross over into another thread."""
    with translation.override(language):
        return work()


async def recall(work: Callable[[], T], *, seconds: float) -> T:
    """Runs `work` in the few threads of recall, so that a slow search takes no thread from turns.

    Raises Busy at once when they are all taken, and TimeoutError after `seconds`; the thread is free again when the
    search has given up by its own deadline.
    """
    async with asyncio.timeout(seconds):
        return await asyncio.wrap_future(_recalls().start(work))
