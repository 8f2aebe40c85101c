"""What a search costs the database as the organisation grows: everything but the embedding of the query.

    python -m bench.search_scale [--units 1000000] [--rounds 200] [--report]

On a PostgreSQL of its own, as it is shipped, it loads units of many owners (a hundred each on average, by Zipf's law,
the largest a fiftieth of all), interleaved as life brings them, with random vectors of 512 numbers. Searches of owners
of several sizes are taken in turn, so that they compete for the server's memory. Exit code 1 when a target is missed,
unless --report. A million units take some 10 GB of disk and a quarter of an hour.
"""

import argparse
import os
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

import django
import numpy as np

from bench.timing import percentile
from config.local_servers import throwaway_servers

SMALL, LARGE = 3_000, 20_000
TARGETS = {SMALL: 25.0, LARGE: 60.0}
"""Milliseconds at p95 for owners of up to so many units."""
GROWTH_TARGET = 1.2
FEW = 10_000
"""Units in all that the growth of one owner's time is measured from."""
FIXED = 1_000
"""Units of that owner."""
WARM_UP = 20
QUERY_TOKENS = 12


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--units", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--report", action="store_true", help="print the figures and judge nothing")
    parser.add_argument("--here", action="store_true", help="on the empty database of the environment")
    options = parser.parse_args()
    if options.here:
        return measure(options.units, options.rounds) and not options.report
    os.environ.pop("DATABASE_URL", None)
    with throwaway_servers() as servers:
        environment = os.environ | servers.environment | {"DEBUG": "0", "LOG_LEVEL": "ERROR"}
        subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], env=environment, check=True)
        command = [sys.executable, "-m", "bench.search_scale", "--here", *sys.argv[1:]]
        return subprocess.run(command, env=environment, check=False).returncode  # noqa: S603


def measure(units: int, rounds: int) -> bool:
    """Prints the figures; True when a target is missed."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from bench.search_stage import load  # the models load once Django is set up

    print(f"{'':<34}{'units':>8}{'p50 ms':>9}{'p95':>8}{'keyword':>9}{'vectors':>9}{'target':>9}")
    few = load([FIXED, *zipf(FEW - FIXED, largest=FEW // 50)])
    fixed = min(few.sizes)
    before = taken(few, [fixed, *few_others(few, fixed)], rounds)[fixed]
    told(f"one owner among {FEW:,} units", few.sizes[fixed], before)
    began = time.monotonic()
    many = load([FIXED, *zipf(units - FIXED, largest=units // 50)])
    print(f"{units:,} units of {len(many.sizes):,} owners, loaded in {time.monotonic() - began:.0f} s")
    fixed = min(many.sizes)
    owners = {many.owner_of_about(size) for size in (100, SMALL, max(many.sizes.values()))} | {fixed}
    took = taken(many, [*owners, *few_others(many, fixed)], rounds)
    missed = []
    for owner in sorted(owners, key=lambda owner: many.sizes[owner]):
        target = next(target for size, target in TARGETS.items() if many.sizes[owner] <= size * 1.02)
        missed.append(told(f"an owner among {units:,} units", many.sizes[owner], took[owner], target=target))
    growth = percentile(took[fixed]["all"], 95) / percentile(before["all"], 95)
    print(f"growth of one owner's p95: {growth:.2f} × (target {GROWTH_TARGET})")
    return any(missed) or growth > GROWTH_TARGET


def few_others(stage: Any, fixed: int) -> list[int]:
    """Owners by chance whose searches push what they need into the server's memory."""
    others = [owner for owner in stage.sizes if owner != fixed]
    return list(np.random.default_rng(3).choice(others, 4, replace=False).tolist())


def zipf(units: int, *, largest: int) -> list[int]:
    """Sizes of owners by rank, a hundred units each on average."""
    owners = np.arange(1, units // 100 + 1)
    low, high = 0.1, 3.0
    for _ in range(60):  # the exponent that gives so many units in all
        exponent = (low + high) / 2
        sizes = np.maximum(largest / owners**exponent, 1).astype(int)
        low, high = (exponent, high) if sizes.sum() > units else (low, exponent)
    return sizes.tolist()


def taken(stage: Any, owners: list[int], rounds: int) -> dict[int, dict[str, list[float]]]:
    """Milliseconds of each owner's searches, all told and for each leg; owners take turns."""
    took: dict[int, dict[str, list[float]]] = {owner: {"all": [], "keyword": [], "vectors": []} for owner in owners}
    chance = np.random.default_rng(11)
    for number in range(WARM_UP + rounds):
        for owner in owners:
            spent = one_search(stage, owner, chance)
            if number >= WARM_UP:
                for part, milliseconds in spent.items():
                    took[owner][part].append(milliseconds)
    return took


def one_search(stage: Any, owner: int, chance: Any) -> dict[str, float]:
    from django.contrib.auth.models import User

    from bench.search_stage import DIMENSION, MODEL, VOCABULARY
    from memory.retrieval import hits, keyword, vector
    from memory.retrieval.scope import Scope

    class Made:
        model, dimension = MODEL, DIMENSION

    said = chance.choice(VOCABULARY, QUERY_TOKENS, replace=False, p=stage.shares)
    tokens = {stage.words[word]: 1 for word in said}
    values = chance.standard_normal(DIMENSION)
    values /= np.linalg.norm(values)
    spent: dict[str, float] = {}
    plain = keyword.best

    def best(*args: Any, **kwargs: Any) -> Any:
        began = time.perf_counter()
        found = plain(*args, **kwargs)
        spent["keyword"] = 1000 * (time.perf_counter() - began)
        return found

    def nearest(scope: Any, also: Any) -> Any:
        began = time.perf_counter()
        found = vector.nearest(scope, values, embedder=Made(), limit=hits.DEPTH, also=also)
        spent["vectors"] = 1000 * (time.perf_counter() - began)
        return found

    session = f"{owner:08x}-0000-4000-8000-{0:012x}"
    asked = hits.Asked(Scope(User(pk=owner), except_session=session), tokens, 10)
    keyword.best = best
    try:
        began = time.perf_counter()
        # The vector stands ready: what the embedder takes is not measured.
        hits.look_up(asked, SimpleNamespace(begin=lambda: None, nearest=nearest), until=time.monotonic() + 60)
        spent["all"] = 1000 * (time.perf_counter() - began)
    finally:
        keyword.best = plain
    return spent


def told(what: str, units: int, took: dict[str, list[float]], *, target: float | None = None) -> bool:
    """Prints a row. True when p95 misses the target."""
    p95 = percentile(took["all"], 95)
    legs = "".join(f"{percentile(took[leg], 95):>9.1f}" for leg in ("keyword", "vectors"))
    row = f"{what:<34}{units:>8}{percentile(took['all'], 50):>9.1f}{p95:>8.1f}{legs}"
    missed = target is not None and p95 > target
    print(row + (f"{target:>9.0f}{'  MISSED' if missed else '  ok'}" if target else ""))
    return missed


if __name__ == "__main__":
    sys.exit(main())
