"""The verb for jobs: `complete` waits for a whole answer where there is no event loop.

One thread a process runs an event loop for all such calls, so that deadlines, retries and reading exist once,
and connections are kept between jobs. A forked worker starts its own.
"""

import asyncio
import os
import threading
from collections.abc import Coroutine
from contextlib import aclosing
from typing import Any, TypeVar

from llm import attempts
from llm.profile import Profile
from llm.thinking import split_unopened
from llm.tokens import estimate
from llm.types import ChatRequest, Completion

T = TypeVar("T")


def complete(request: ChatRequest, *, profile: Profile) -> Completion:
    """The whole answer to `request`. Blocks the calling thread; not for use on an event loop.

    Raises a `ProviderError`, as `stream` does. An exception in the waiting thread, such as a job's time
    limit, stops the model.
    """
    return _background.run(_collected(request, profile))


async def _collected(request: ChatRequest, profile: Profile) -> Completion:
    async with aclosing(attempts.stream(request, profile=profile)) as stream:
        chunks = [chunk async for chunk in stream]
    last = chunks[-1]
    unopened, text = split_unopened("".join(chunk.text for chunk in chunks))
    reasoning = "".join(chunk.reasoning for chunk in chunks) + unopened
    return Completion(
        text=text,
        reasoning=reasoning,
        tool_calls=last.tool_calls,
        usage=last.usage or estimate(request.messages, reasoning + text),
        finish_reason=last.finish_reason or "stop",
        model=last.model,
    )


class _BackgroundLoop:
    """An event loop in a thread of its own, started by the first call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._started())
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="llm-jobs", daemon=True).start()
            return self._loop


_background = _BackgroundLoop()


def _start_afresh() -> None:
    global _background  # a fork copies the loop but not the thread that runs it
    _background = _BackgroundLoop()


os.register_at_fork(after_in_child=_start_afresh)
