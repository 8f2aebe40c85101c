"""Waiting for what other threads and processes bring about."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def eventually(condition: Callable[[], T], *, within: float = 20.0) -> T:
    """The first true value that `condition` gives; the test fails when none comes within so many seconds."""
    deadline = time.monotonic() + within
    while not (value := condition()):
        assert time.monotonic() < deadline, "what the test waits for did not come"
        time.sleep(0.01)
    return value
