"""When two accounts say the same, so that one of them is enough."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import floor

from memory.models import Episode
from memory.models.episodes import squeezed
from memory.retrieval.tokens import fold, tokens

NEAR = 0.85
"""Share of tokens in common from which two accounts may say the same."""
_NUMBER = r"\d+(?:[-_./:]\d+)*|[零〇一二三四五六七八九十百千万亿两]+"
_TELLING = re.compile(rf"{_NUMBER}|[不没未无非别勿否]|\b(?:not|no|never)\b|n['’]t\b")
"""What makes another statement of a text that is else the same: a number, a date, a no."""


@dataclass(frozen=True, slots=True)
class Told:
    """What is compared: the tokens of an account, its text without blanks, the keys of its names, its numbers."""

    tokens: frozenset[str]
    text: str
    names: frozenset[str]
    telling: tuple[str, ...]

    @classmethod
    def of(cls, summary: str, names: Iterable[str]) -> "Told":
        return cls(frozenset(tokens(summary)), squeezed(summary), frozenset(names), telling_of(summary))

    @classmethod
    def of_episode(cls, episode: Episode) -> "Told":
        """Of a stored one. Its entities are best prefetched."""
        return cls.of(episode.summary, [entity.key for entity in episode.entities.all()])


def telling_of(summary: str) -> tuple[str, ...]:
    """The numbers and denials in an account: where they differ nothing else has to be compared."""
    return tuple(sorted(_TELLING.findall(fold(summary))))


def says_the_same(first: Told, second: Told) -> bool:
    """Whether both have nearly the same words, and the same numbers, denials and names."""
    if not first.tokens or first.telling != second.telling:
        return False
    common = len(first.tokens & second.tokens) / len(first.tokens | second.tokens)
    return common >= NEAR and _names_none_besides(first, second) and _names_none_besides(second, first)


def enough_of(size: int) -> int:
    """How many tokens of a text of `size` any other that is near must share one of, whichever are taken."""
    return floor((1 - NEAR) * size) + 1


def _names_none_besides(first: Told, second: Told) -> bool:
    return all(name in second.names or name in second.text for name in first.names)
