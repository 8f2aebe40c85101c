"""Timing several ways to do the same thing, so that what else the machine does falls on all of them alike."""

import random
import time
from collections.abc import Callable

WARM_UP = 60
"""Rounds before the first that counts."""

Work = Callable[[], object]


def taken_in_turn(ways: dict[str, Callable[[], Work]], rounds: int) -> dict[str, list[float]]:
    """Microseconds of each way in each round. A way prepares its round and gives the work that is timed.

    All prepare before the first is timed, and each round has an order of its own: what ran just before decides how
    warm the caches are.
    """
    took: dict[str, list[float]] = {name: [] for name in ways}
    names, chance = list(ways), random.Random(7)  # noqa: S311  # the same orders in every run
    for number in range(WARM_UP + rounds):
        ready = {name: prepare() for name, prepare in ways.items()}
        chance.shuffle(names)
        for name in names:
            began = time.perf_counter_ns()
            ready[name]()
            spent = time.perf_counter_ns() - began
            if number >= WARM_UP:
                took[name].append(spent / 1000)
    return took


def percentile(values: list[float], share: int) -> float:
    """The value below which so many in a hundred lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) * share // 100, len(ordered) - 1)]
