"""How well a unit matches the words of a query: BM25, with the counts of one owner's units and nobody else's.

A match is the sum over the query's tokens of `idf(...) * weight(...)`; `most` is what that sum never reaches. Other
constants (K1 0.8 to 3, B 0.3 to 0.75) move no set of the bench by more than a point: they are the usual ones.
"""

import math
from collections.abc import Iterable, Mapping

K1 = 1.2
"""How soon a token that is said again stops to count."""

B = 0.75
"""How much a long unit is held back: 0 not at all, 1 in full proportion."""


OTHERS = 20
"""Units that every store is taken to hold beside its own, so that a name tells something where two of three have it:
a turn and the episode made from it say the same."""


def idf(units: int, holding: int) -> float:
    """How much a token tells that `holding` of the owner's `units` have: above 0, the less of them the more."""
    return math.log1p((units + OTHERS - holding + 0.5) / (holding + 0.5))


def weight(frequency: int, *, length: int, average: float) -> float:
    """What a token counts in a unit of `length` tokens that has it `frequency` times: from 0 to below K1 + 1.

    `average` is the length of the owner's units, above 0.
    """
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / average))


def most(query: Iterable[str], frequencies: Mapping[str, int], units: int) -> float:
    """What a unit that answers to the whole query would score. `frequencies`: how many units hold a token.

    A token that no unit holds counts like one that a single unit holds: in a store of three turns it would else
    outweigh all that was found.
    """
    return (K1 + 1) * sum(idf(units, min(max(1, frequencies.get(token, 0)), units)) for token in query)
