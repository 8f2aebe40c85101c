"""How good a ranking is, and how sure one may be of a mean: figures in per cent."""

import math
from collections.abc import Collection, Sequence

import numpy as np

MEASURES = ("recall@5", "recall@10", "nDCG@10", "MRR")
RESAMPLES = 2_000
SEED = 7


def measured(ranking: Sequence[str], gold: Collection[str]) -> tuple[float, ...]:
    """The MEASURES of one ranking, 0 to 100."""
    gains = [100 / math.log2(place + 2) for place in range(10)]
    found = [identifier in gold for identifier in ranking[:10]]
    reached = sum(gain for gain, hit in zip(gains, found, strict=False) if hit)
    first = next((place for place, identifier in enumerate(ranking, start=1) if identifier in gold), None)
    return (
        100 * sum(found[:5]) / len(gold),
        100 * sum(found) / len(gold),
        100 * reached / sum(gains[: len(gold)]),
        100 / first if first else 0.0,
    )


def interval(values: Sequence[float]) -> tuple[float, float, float]:
    """The mean, and the bounds between which it stays in 95 of 100 resamples (percentile bootstrap, seeded)."""
    sample = np.asarray(values)
    chance = np.random.default_rng(SEED)
    means = sample[chance.integers(len(sample), size=(RESAMPLES, len(sample)))].mean(axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    return float(sample.mean()), float(low), float(high)
