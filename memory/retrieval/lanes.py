"""Small executors with a bounded queue: who finds one full is told at once, and does not wait."""

import contextvars
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import BoundedSemaphore
from typing import TypeVar

from django.db import connection

T = TypeVar("T")
WAITING = 7
"""Calls that may wait for each thread: at 20 ms a search, not longer than a turn waits."""


class Busy(Exception):
    """All threads work, and the queue is full."""


class Lanes:
    """`threads` threads of one kind of work."""

    def __init__(self, threads: int, *, name: str) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._room = BoundedSemaphore(threads * (1 + WAITING))

    def start(self, work: Callable[[], T]) -> "Future[T]":
        """Runs `work` in a thread, which gives its database connection back afterwards. Raises Busy."""
        if not self._room.acquire(blocking=False):
            raise Busy
        context = contextvars.copy_context()

        def call() -> T:
            try:
                return context.run(work)
            finally:
                connection.close()

        future = self._pool.submit(call)
        future.add_done_callback(lambda _: self._room.release())
        return future
