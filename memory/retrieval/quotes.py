"""The stretch of a text that answers a query best, short enough to stand in a list."""

import unicodedata
from collections.abc import Iterator, Mapping

from memory.retrieval.tokens import fold

CHARS = 160
OCCURRENCES = 20
"""Of one token that are looked at."""
SENTENCE_ENDS = "。！？；\n.!?;"
JOINERS = "\u200d\ufe0f\ufe0e"


def quote(text: str, weights: Mapping[str, float], *, chars: int = CHARS) -> str:
    """At most `chars` characters of `text` in one line, around where most of the weighted tokens stand.

    `…` marks a cut. Without any of the tokens in it, its beginning.
    """
    line = " ".join(text.split())
    if len(line) <= chars:
        return line
    room = chars - 2
    first, last = _densest(list(_found(line, weights)), room)
    start = _sentence_start(line, first, last - room)
    if start is None:
        start = max(0, min(first - (room - (last - first)) // 2, len(line) - room))
    start = _whole(line, start)
    end = _whole(line, min(start + room, len(line)))
    return f"{'…' if start else ''}{line[start:end].strip()}{'…' if end < len(line) else ''}"


def _found(line: str, weights: Mapping[str, float]) -> Iterator[tuple[int, int, str, float]]:
    """Where tokens stand in the line: start, end, token, weight. Only where folding keeps the places of characters."""
    folded = fold(line)
    if len(folded) != len(line):
        folded = "".join(_alike(character) for character in line)
    for token, weight in weights.items():
        place = folded.find(token)
        for _ in range(OCCURRENCES):
            if place < 0:
                break
            yield place, place + len(token), token, weight
            place = folded.find(token, place + len(token))


def _alike(character: str) -> str:
    folded = fold(character)
    return folded if len(folded) == 1 else character


def _densest(found: list[tuple[int, int, str, float]], room: int) -> tuple[int, int]:
    """Start and end of the first stretch of at most `room` characters whose different tokens weigh most."""
    found.sort()
    best, stretch = 0.0, (0, 0)
    for number, (start, *_) in enumerate(found):
        inside: dict[str, float] = {}
        last = start
        for _start, end, token, weight in found[number:]:
            if end - start > room:
                break
            inside[token], last = weight, max(last, end)
        if sum(inside.values()) > best:
            best, stretch = sum(inside.values()), (start, last)
    return stretch


def _sentence_start(line: str, first: int, earliest: int) -> int | None:
    """The start of the sentence that `first` stands in, if it is not before `earliest`."""
    for place in range(first, max(earliest, 0) - 1, -1):
        if place == 0 or line[place - 1] in SENTENCE_ENDS:
            return place
    return None


def _whole(line: str, place: int) -> int:
    """The place, or the next one before it that is not within a character of several code points."""
    while 0 < place < len(line) and (_joins(line[place]) or line[place - 1] == "\u200d"):
        place -= 1
    return place


def _joins(character: str) -> bool:
    return character in JOINERS or bool(unicodedata.combining(character)) or "\U0001f3fb" <= character <= "\U0001f3ff"
