"""What the tests of started programs share: looking at processes and waiting for them, within bounds."""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from config.orphans import birth_of


def alive(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    return bool(birth_of(pid))


def members(group: int) -> list[int]:
    """The pids of a process group that run (Linux)."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(ProcessLookupError):
            if os.getpgid(int(folder.name)) == group and alive(int(folder.name)):
                found.append(int(folder.name))
    return found


def eventually(condition: Callable[[], object], *, seconds: float = 60) -> None:
    """Wait until the condition holds; fail when it does not in that time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "what the test waits for did not come"
        time.sleep(0.05)
