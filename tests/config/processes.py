"""What the tests of started programs share: looking at processes and waiting for them, within bounds."""

import contextlib
import os
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
