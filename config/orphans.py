"""Ending processes that are not our children: what an owner that was killed hard has left behind."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def kill_group(leader: int) -> None:
    """SIGKILL to whatever is left of the process group that `leader` led."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def birth_of(pid: int) -> str:
    """When the live process `pid` began, in the system's words; empty when there is none, or a zombie.

    A pid alone may by now belong to another program; a pid with its birth does not.
    """
    if sys.platform == "linux":
        try:
            state, *rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except (OSError, ValueError):
            return ""
        return "" if state in "ZX" else rest[18]
    state, _, birth = ask_ps(pid, "state=,lstart=").partition(" ")
    return "" if state.startswith("Z") else "-".join(birth.split())


def command_of(pid: int) -> str:
    """The command line of a live process; empty when there is none, or a zombie."""
    if sys.platform == "linux":
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            return ""
    return ask_ps(pid, "command=")


def ask_ps(pid: int, columns: str) -> str:
    """One line of `ps`, for systems without /proc."""
    argv = ["/bin/ps", "-ww", "-o", columns, "-p", str(pid)]
    shown = subprocess.run(argv, capture_output=True, check=False, env={"LC_ALL": "C"})  # noqa: S603
    return shown.stdout.decode(errors="replace").strip()


def end_leftovers(records: Path) -> None:
    """End the recorded programs of an owner that was killed. Only the folder's owner may call it."""
    for record in sorted(records.iterdir(), reverse=True):
        with contextlib.suppress(ValueError):  # a record without a birth: the program had ended at once
            pid, signum, birth = record.read_text(encoding="utf-8").split()
            if birth_of(int(pid)) == birth:
                end_orphan(int(pid), signal.Signals(int(signum)))
        record.unlink()


def end_orphan(pid: int, signum: signal.Signals, *, grace: float = 15.0) -> None:
    """End a process that is not our child, and its group when it has not gone `grace` seconds later."""
    birth = birth_of(pid)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signum)
    deadline = time.monotonic() + grace
    while birth and birth_of(pid) == birth:
        if time.monotonic() > deadline:
            kill_group(pid)
        time.sleep(0.05)
