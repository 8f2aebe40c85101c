"""What forgetting costs: erasing a person's memories, and a night's archive and sweep, on a PostgreSQL of its own.

    python -m bench.forgetting [--report]

Erasing: a person with 1,000 memories in 100 sessions, with their vectors, among others' rows, within 2 s. The night:
100,000 memories and 100,000 turns that are due, of many people; the number of statements depends on how many batches
there are, never on what is in them: each takes as many as the one of a small night. Exit code 1 when a target is
missed, unless --report.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable
from math import ceil

import django

from config.local_servers import throwaway_servers

ERASED, ERASE_TARGET = 1_000, 2.0
"""Memories of one person, and seconds."""
DUE = 100_000
SMALL = 100


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--report", action="store_true", help="print the figures and judge nothing")
    parser.add_argument("--here", action="store_true", help="on the empty servers of the environment")
    options = parser.parse_args()
    if options.here:
        return measure() and not options.report
    for name in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(name, None)
    with throwaway_servers() as servers:
        environment = os.environ | servers.environment | {"DEBUG": "0", "LOG_LEVEL": "ERROR", "EMBEDDING_MODEL": "none"}
        subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], env=environment, check=True)
        command = [sys.executable, "-m", "bench.forgetting", "--here", *sys.argv[1:]]
        return subprocess.run(command, env=environment, check=False).returncode  # noqa: S603


def measure() -> bool:
    """Prints the figures; True when a target is missed."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from bench.forgetting_stage import add_people, one_owner  # the models load once Django is set up
    from memory import forgetting, retention

    missed = []
    add_people(people=SMALL // 10, each=10)
    few = {name: counted(night) for name, night in nights().items()}
    began = time.monotonic()
    add_people(people=DUE // 100, each=100)
    print(f"{DUE:,} memories and turns of {DUE // 100:,} people made in {time.monotonic() - began:.0f} s")
    person = one_owner(memories=ERASED)
    began = time.monotonic()
    report = forgetting.erase(person, scope=forgetting.Scope.ALL)
    took = time.monotonic() - began
    assert report.episodes == ERASED, report
    said = f"target {ERASE_TARGET} s; {sum(report.tables.values()):,} rows"
    missed.append(told(f"erasing {ERASED:,} memories of one person", took, said, took > ERASE_TARGET))
    sizes = {"archive": retention.EPISODES, "sweep": retention.SESSIONS * 10}
    for name, night in nights().items():
        began = time.monotonic()
        count, statements = counted(night)
        took = time.monotonic() - began
        batches = ceil(DUE / sizes[name]) + (1 if DUE % sizes[name] == 0 else 0)
        allowed = few[name][1] * batches
        said = f"{statements} statements in {batches} batches, {few[name][1]} for {few[name][0]} rows"
        missed.append(told(f"{name} of {DUE:,}: {count:,} rows", took, said, statements > allowed))
    return any(missed)


def nights() -> dict[str, Callable[[], int]]:
    from memory import retention

    return {
        "archive": lambda: retention.archive_episodes(seconds=3600),
        "sweep": lambda: retention.sweep_transcripts(seconds=3600),
    }


def counted(work: Callable[[], int]) -> tuple[int, int]:
    """What it did, and with how many statements."""
    from django.db import connection

    statements = 0

    def count(execute: Callable[..., object], *call: object) -> object:
        nonlocal statements
        statements += 1
        return execute(*call)

    with connection.execute_wrapper(count):
        return work(), statements


def told(what: str, seconds: float, said: str, is_missed: bool) -> bool:
    """Prints a row; whether the target was missed."""
    print(f"{what:<48}{seconds:>8.2f} s  {said}{'  MISSED' if is_missed else '  ok'}")
    return is_missed


if __name__ == "__main__":
    sys.exit(main())
