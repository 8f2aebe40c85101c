"""One ranking out of two legs: what matches the words of a query, and what matches its meaning.

The keyword score is divided by what the whole query could score. That makes it the share of the query that a unit
covers, and so it knows its own worth: a short question that is answered in its own words has 0.3 or more and decides,
a long outpouring has 0.02 and leaves the order to the meanings. Ranks and scores divided by the best one cannot tell
the two apart, and lose what the stronger leg had.

The constants are round and flat: half or one and a half times as much of any moves recall@10 by less than a point on
LoCoMo dev (582 English questions) and by 2.5 at most on MADial dev (76 Chinese openings), all with the local embedder.
There the words alone have 71 and 60, the vectors alone 48 and 70, both together 74 and 75.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import groupby
from math import fsum
from uuid import UUID

from memory.retrieval import bm25
from memory.retrieval.tokens import fold

MEANING = 0.25
"""What a cosine counts beside the covered share of the query. Best between 0.15 and 0.4, in both languages."""

NEXT = 0.2
"""What the turn behind a unit lends to it, where one asks and the other answers: LoCoMo nDCG@10 53 to 55. The turn
before it is in its tokens and its vector already: lending more of that lost a point."""

SESSION = 0.3
"""What the best hit of a session lends to the hits there: people speak of one thing for a while. LoCoMo + 1."""

RECENT, RECENT_DAYS = 0.1, 90
"""How much more a unit counts that is new, and after how many days half of that is gone. Enough to put the newer of two
equal statements first; neither set gains or loses by it."""

UNRELATED, PARAPHRASE = 0.1, 0.35
"""The cosines of two texts that have nothing to do with each other, and of two that surely have (local embedder)."""

ENOUGH = 0.3
"""The share of a short query that is evidence by itself. Of a longer one it is as much as one whole word of it."""

FLOOR = 1.0
"""The evidence below which a query has no answer. No answer of either set is lost by it. Of forty questions about other
things it lets in those that share a word or a subject with something: 1 in 10."""

TAIL = 0.1
"""Hits with less than this share of the best one's score are left out. No set of the bench loses anything up to 0.2."""


MARKS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class QueryFeatures:
    """What is known of a query beside its hits.

    tokens        of the query, as `tokens.tokens` gives them
    frequencies   of each of them, how many of the owner's units hold it (absent: none)
    units         how many units were searched
    """

    tokens: Mapping[str, int]
    frequencies: Mapping[str, int]
    units: int

    @cached_property
    def words(self) -> int:
        """How many words the query has, about: a single Chinese character is part of a pair that counts."""
        return sum(len(token) > 1 or token.isascii() for token in self.tokens)

    @cached_property
    def most(self) -> float:
        """The keyword score of a unit that would answer to all of the query; above 0."""
        return bm25.most(self.tokens, self.frequencies, self.units) or 1.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """A unit that one of the legs found.

    keyword       its BM25 score; None: it shares no token with the query, or was not among the best
    vector        its cosine; None: it has no vector yet, or no embedder answered
    session, seq  the conversation it is from, and its place there: neighbours are one apart
    weight        what it counts more or less for other reasons: importance, pinned
    text          what equal units are told by
    """

    id: int
    keyword: float | None
    vector: float | None
    session: UUID | None
    seq: int
    occurred_at: datetime
    weight: float = 1.0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A unit with its score: above 0, below 1. It means the same for every query: 0.5 is the least for a best hit."""

    id: int
    score: float


@dataclass(slots=True)
class _Place:
    """A candidate on its way. `relevance` is its own, `score` what it is ranked by."""

    candidate: Candidate
    relevance: float
    score: float = field(default=0.0)


def rank(query: QueryFeatures, candidates: Sequence[Candidate], *, now: datetime) -> list[Ranked]:
    """The candidates that answer the query, best first, equal ones once; empty when nothing is about it."""
    evidence = max((_evidence(query, candidate) for candidate in candidates), default=0.0)
    if evidence < FLOOR:
        return []
    places = [_Place(candidate, relevance) for candidate, relevance in _relevances(query, candidates)]
    _lift(places)
    for place in places:
        place.score *= _recency(place.candidate.occurred_at, now) * place.candidate.weight
    places.sort(key=lambda place: (-place.score, -place.candidate.id))
    best, certainty = places[0].score, evidence / (1 + evidence)
    kept = _without_repetitions([place for place in places if place.score >= TAIL * best > 0])
    return [Ranked(place.candidate.id, certainty * place.score / best) for place in kept]


def _coverage(query: QueryFeatures, candidate: Candidate) -> float:
    return (candidate.keyword or 0.0) / query.most


def _evidence(query: QueryFeatures, candidate: Candidate) -> float:
    """How sure it is that a unit is about the query: both legs add up, words alone count 1.5 times."""
    words = _coverage(query, candidate) * max(1 / ENOUGH, query.words)
    if candidate.vector is None:
        return 1.5 * words
    return words + max(0.0, candidate.vector - UNRELATED) / (PARAPHRASE - UNRELATED)


def _relevances(query: QueryFeatures, candidates: Sequence[Candidate]) -> Iterable[tuple[Candidate, float]]:
    """Each candidate with its relevance. One whose vector is still to come is taken for an average one."""
    cosines = [max(0.0, candidate.vector) for candidate in candidates if candidate.vector is not None]
    usual = fsum(cosines) / len(cosines) if cosines else 0.0  # in whatever order they come
    for candidate in candidates:
        cosine = usual if candidate.vector is None else max(0.0, candidate.vector)
        yield candidate, _coverage(query, candidate) + MEANING * cosine


def _lift(places: list[_Place]) -> None:
    """Gives each place its score: its relevance and what the next turn and its session lend to it."""
    at: dict[tuple[UUID | None, int], float] = {}
    for place in places:  # an episode stands where its first turn does: the better of the two counts
        where = (place.candidate.session, place.candidate.seq)
        at[where] = max(place.relevance, at.get(where, 0.0))
    best = _best_of_sessions(places)
    for place in places:
        session, seq = place.candidate.session, place.candidate.seq
        place.score = place.relevance
        if session is not None:
            place.score += NEXT * at.get((session, seq + 1), 0.0) + SESSION * best.get(session, 0.0)


def _best_of_sessions(places: list[_Place]) -> dict[UUID, float]:
    """The best relevance of each session with several candidates."""
    placed = sorted((p for p in places if p.candidate.session), key=lambda p: str(p.candidate.session))
    groups = [(session, list(group)) for session, group in groupby(placed, key=lambda p: p.candidate.session)]
    return {session: max(p.relevance for p in group) for session, group in groups if session and len(group) > 1}


def _recency(occurred_at: datetime, now: datetime) -> float:
    days = max(0.0, (now - occurred_at).total_seconds() / 86_400)
    return float(1 + RECENT * 0.5 ** (days / RECENT_DAYS))


def _without_repetitions(places: Sequence[_Place]) -> list[_Place]:
    """The places, each text once: the newest that says it, where the best of them stood.

    Equal is what differs in marks, blanks, case or script alone: another number or name is another statement.
    """
    bare = {place.candidate.id: MARKS.sub("", place.candidate.text) for place in places}
    as_long = Counter(map(len, bare.values()))
    kept: dict[object, _Place] = {}
    for place in places:
        words = bare[place.candidate.id]
        # Folding every text would take ten times as long as all else, and keeps the length.
        said = fold(words) if words and as_long[len(words)] > 1 else place.candidate.id
        first = kept.setdefault(said, place)
        if place.candidate.occurred_at > first.candidate.occurred_at:
            kept[said] = _Place(place.candidate, first.relevance, first.score)
    return list(kept.values())
