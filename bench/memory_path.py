"""What memory costs a turn beyond its stores: reading and recording against bare clients, taken in turn in one run.

    python -m config.local_servers exec -- python -m bench.memory_path [--rounds 600] [--report]

Read: `inject_memory` on sessions of 40 messages against (a) a bare redis-py pipeline that moves the same bytes.
Record: `record_exchange` against (a) and (b) a bare psycopg insert and commit, one behind the other. Everything is
measured on a PostgreSQL of its own that syncs every commit, and on the one of DATABASE_URL if there is one. Exit code 1
when a target is missed, unless --report.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django

from bench.timing import percentile, taken_in_turn
from config.local_servers import local_servers
from config.server_account import ServerAccount

SESSIONS, MESSAGES = 20, 40
READ_TARGET, RECORD_TARGET, BYTES_TARGET = 1.5, 1.5, 1.15


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=600)
    parser.add_argument("--report", action="store_true", help="print the figures and judge nothing")
    parser.add_argument("--here", action="store_true", help="only on the servers of the environment")
    options = parser.parse_args()
    if options.here:
        return measure(options.rounds) and not options.report
    given = os.environ.pop("DATABASE_URL", None)
    with durable_servers() as environment:
        command = [sys.executable, "-m", "bench.memory_path", "--here", *sys.argv[1:]]
        # With DEBUG on Django keeps a copy of every statement, which no installation does.
        environment |= {"DEBUG": "0", "LOG_LEVEL": "ERROR"}
        urls = [environment["DATABASE_URL"], *([given] if given else [])]
        runs = [subprocess.run(command, env=environment | {"DATABASE_URL": url}, check=False) for url in urls]  # noqa: S603
    return max(run.returncode for run in runs)


@contextmanager
def durable_servers() -> Iterator[dict[str, str]]:
    """The environment of a PostgreSQL as an installation runs it, and of a Redis when none is given."""
    home = Path(tempfile.mkdtemp(prefix="tacit-bench-"))
    try:
        ServerAccount.find().let_through(home)
        with local_servers(home) as servers:
            yield os.environ | servers.environment
    finally:
        shutil.rmtree((home / "postgres").resolve(), ignore_errors=True)  # it may stand elsewhere
        shutil.rmtree(home, ignore_errors=True)


def measure(rounds: int) -> bool:
    """Prints the figures of the servers at hand; True when a target is missed."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from bench.memory_stage import Stage, servers  # the models load once Django is set up

    with Stage(sessions=SESSIONS, messages=MESSAGES) as stage:
        print(f"\n{servers()}\n{SESSIONS} sessions of {MESSAGES} messages, {rounds} rounds; microseconds\n")
        print(f"{'':<36}{'p50':>8}{'p95':>8}{'ratio p50':>12}{'p95':>8}{'target':>9}")
        missed = [
            compared("read", taken_in_turn(stage.reads(), rounds), target=READ_TARGET),
            compared("record", taken_in_turn(stage.records(), rounds), target=RECORD_TARGET),
            weighed(*stage.weight(), target=BYTES_TARGET),
        ]
    return any(missed)


def compared(what: str, took: dict[str, list[float]], *, target: float) -> bool:
    """Prints a row for each way. True when the last one's median misses the target against the one before it."""
    *_, baseline, ours = took
    for name, spent in took.items():
        row = f"{f'{what}: {name}':<36}{percentile(spent, 50):>8.0f}{percentile(spent, 95):>8.0f}"
        if name == ours:
            ratios = [percentile(spent, share) / percentile(took[baseline], share) for share in (50, 95)]
            row += f"{ratios[0]:>12.2f}{ratios[1]:>8.2f}{target:>9.2f}{verdict(ratios[0], target)}"
        print(row)
    return ratios[0] > target


def weighed(stored: int, payload: int, *, target: float) -> bool:
    """Prints what Redis takes for the sessions against what was put in. True when it misses the target."""
    ratio = stored / payload
    row = f"{'Redis: bytes of payload, bytes held':<36}{payload:>8}{stored:>8}{ratio:>12.2f}"
    print(f"{row}{'':>8}{target:>9.2f}{verdict(ratio, target)}")
    return ratio > target


def verdict(ratio: float, target: float) -> str:
    return "  ok" if ratio <= target else "  MISSED"


if __name__ == "__main__":
    sys.exit(main())
