"""What `make run` shows: the lines of all its programs on one terminal, each behind the program's name."""

import os
import sys
from collections.abc import Iterable
from threading import Lock, Thread

from config.processes import Process

COLOURS = {"tacit": "1", "prepare": "35", "web": "36", "worker": "33"}
WIDTH = max(map(len, COLOURS))
_printing = Lock()


def say(text: str, *, name: str = "tacit") -> None:
    """Print the text, line by line, behind the name; without colours where it is not a terminal."""
    label = name.ljust(WIDTH)
    if sys.stdout.isatty() and "NO_COLOR" not in os.environ:
        label = f"\033[{COLOURS[name]}m{label}\033[0m"
    with _printing:
        try:
            for line in text.splitlines():
                sys.stdout.write(f"{label} | {line}\n")
            sys.stdout.flush()
        except OSError:  # the terminal is gone, and running and stopping go on without it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def follow(process: Process) -> Thread:
    """Print what a program writes, as it comes. The thread ends when the program has closed its output."""
    thread = Thread(target=_print_all, args=(process.program.name, process.popen.stdout), daemon=True)
    thread.start()
    return thread


def _print_all(name: str, output: Iterable[bytes]) -> None:
    for line in output:
        say(line.decode(errors="replace").rstrip(), name=name)
