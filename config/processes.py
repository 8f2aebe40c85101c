"""Starting and ending the programs of a local installation so that none of them outlives its owner.

Every program runs in its own session and is told by the kernel when its owner dies (Linux). It also leaves
a record of its pid, by which the next owner of the folder ends what an owner that was killed left behind.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, Any

from config.home import StartError, write_private
from config.orphans import birth_of, kill_group

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
START_SECONDS = 90
"""Generous: after a crash a server first replays its log."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """What to run and how to end it: `stop_signal` first, SIGKILL `grace` seconds later.

    `account` holds the `user`, `group` and `extra_groups` of `subprocess.Popen`; empty: the caller's own.
    """

    name: str
    argv: list[str]
    environment: dict[str, str]
    folder: Path
    stop_signal: signal.Signals = signal.SIGTERM
    grace: float = 15.0
    account: dict[str, Any] = field(default_factory=dict)


class Process:
    """A running program. It starts on construction, which the main thread does.

    `records` is the folder for the note of its pid; `output` takes its stdout and stderr, PIPE to read them.
    """

    def __init__(self, program: Program, *, records: Path, output: int | IO[bytes] | None = None) -> None:
        self.program = program
        self._record = records / f"{program.name}.pid"
        self._asked = self._gone = False
        with signals_held_back():  # so that no request to stop loses a program before it is on record
            self.popen = subprocess.Popen(  # noqa: S603  # the project's own programs, no shell
                program.argv,
                env=program.environment,
                cwd=program.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=dies_with_owner(program.stop_signal),
                **program.account,
            )
            self._note()

    def _note(self) -> None:
        pid = self.popen.pid
        try:
            write_private(self._record, f"{pid} {self.program.stop_signal:d} {birth_of(pid)}\n")
        except OSError:
            self.popen.kill()
            raise

    def exit_code(self) -> int | None:
        """None while it runs."""
        return self.popen.poll()

    def ask_to_stop(self) -> None:
        """Send the stop signal, once, and return at once, so that several programs can end side by side."""
        if not self._asked and self.exit_code() is None:
            self.popen.send_signal(self.program.stop_signal)
        self._asked = True

    def stop(self) -> None:
        """End it and everything that it started; returns when it is gone."""
        if self._gone:  # and its pid may be somebody else's
            return
        self.ask_to_stop()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(self.program.grace)
        kill_group(self.popen.pid)
        self.popen.wait()
        self._record.unlink(missing_ok=True)
        self._gone = True


def wait_until_ready(process: Process, answers: Callable[[], bool], *, log: Path | None = None) -> None:
    """Return when the program answers. Raises `StartError`, with the end of its log, when it never does."""
    deadline = time.monotonic() + START_SECONDS
    while not answers():
        code = process.exit_code()
        if code is None and time.monotonic() < deadline:
            time.sleep(0.03)
            continue
        process.stop()
        what = f"did not answer within {START_SECONDS} s" if code is None else f"ended with code {code}"
        said = log.read_text(encoding="utf-8", errors="replace").splitlines()[-8:] if log else []
        raise StartError("\n".join([f"{process.program.name} {what}.", *said]))


class StopAsked(SystemExit):
    """Somebody asked this process to stop, by Ctrl-C or a signal."""


def exit_on_signals() -> None:
    """Make the first request to stop a `StopAsked`, so that all is put away, and ignore later ones."""

    def leave(signum: int, _frame: FrameType | None) -> None:
        ignore_signals()
        raise StopAsked(128 + signum)

    for signum in STOP_SIGNALS:
        if signal.getsignal(signum) is not signal.SIG_IGN:  # as under nohup
            signal.signal(signum, leave)


def ignore_signals() -> None:
    """Let no request to stop interrupt what follows; programs started from here on still see theirs."""
    for signum in STOP_SIGNALS:
        signal.signal(signum, lambda *_: None)


@contextlib.contextmanager
def signals_held_back() -> Iterator[None]:
    """Let requests to stop wait until the block is left. A child that is started in it undoes that for itself."""
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)


def dies_with_owner(signum: signal.Signals) -> Callable[[], None]:
    """What a child runs before its program, so that the kernel signals it when the starting thread ends."""
    owner = os.getpid()

    def prepare() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
        if LIBC:
            LIBC.prctl(PR_SET_PDEATHSIG, signum)
            if os.getppid() != owner:  # it died before the kernel was asked
                os._exit(1)

    return prepare
