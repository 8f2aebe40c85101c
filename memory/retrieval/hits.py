"""The database's part of a search: both legs, one ranking, and the rows behind the best of it."""

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from django.db import connection, transaction
from django.utils import timezone

from memory.models import Unit, UnitKind
from memory.redaction import redact
from memory.retrieval import bm25, keyword
from memory.retrieval.fusion import Candidate, QueryFeatures, rank
from memory.retrieval.keyword import Matches, Unstored
from memory.retrieval.pending import pending
from memory.retrieval.quotes import quote
from memory.retrieval.scope import Scope

DEPTH = 50
"""Units that each leg brings into the ranking."""
LOOK_CHARS = 240
"""Of a unit's text, enough to tell near-equal ones by."""


class Meaning(Protocol):
    """The query's vector in the making, and what is near it."""

    def begin(self) -> None:
        """Begins to make it, beside the search for words."""

    def nearest(self, scope: Scope, also: Collection[int]) -> dict[int, float]:
        """The cosines of the units in scope that are nearest to the query, and of these others. It may wait."""
        ...


# Rows as they are, without the models: to make a hundred of those takes longer than to find them. So does reading a
# hundred times from text; seconds are read in no time.
LOOK = """
SELECT id, turn_id, conversation_id, seq, extract(epoch FROM occurred_at)::float8, weight, left(text, {chars})
FROM memory_unit
WHERE user_id = %s AND id = ANY(%s)
"""
READ = """
SELECT unit.id, unit.kind, unit.turn_id, unit.episode_id, unit.conversation_id, unit.flow_id, unit.seq,
    unit.occurred_at, unit.text, unit.answer_at, session.title, session.flow_name
FROM memory_unit unit LEFT JOIN memory_conversation session ON session.id = unit.conversation_id
WHERE unit.user_id = %s AND unit.id = ANY(%s)
"""


class Look(NamedTuple):
    """What is needed of a unit to rank it."""

    id: int
    turn: UUID | None
    session: UUID | None
    seq: int
    occurred_at: datetime
    weight: float
    text: str


class Read(NamedTuple):
    """What is needed of a unit to show it."""

    id: int
    kind: str
    turn: UUID | None
    episode: UUID | None
    session: UUID | None
    flow_id: int | None
    seq: int
    occurred_at: datetime
    text: str
    answer_at: int
    title: str | None
    source: str | None

    @property
    def source_id(self) -> UUID:
        """The id of what the unit is made from."""
        made_from = self.turn or self.episode
        if made_from is None:
            raise ValueError(f"unit {self.id} is made from nothing")
        return made_from


@dataclass(frozen=True, slots=True)
class Asked:
    """A query made ready: whose units, its tokens, and how many hits at most."""

    scope: Scope
    tokens: dict[str, int]
    limit: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that answers a query, as `/api/memory/search` shows it. All text in it is redacted.

    `id` is the turn's or episode's, `quote` the stretch of `text` that answers best, `score` 0 to 1, `legs` what each
    leg alone gave (None: it did not find it), `source` the flow's name, `title` the session's.
    """

    kind: UnitKind
    id: UUID
    title: str
    text: str
    quote: str
    turn_ids: list[UUID]
    session_id: UUID | None
    score: float
    legs: dict[str, float | None]
    occurred_at: datetime
    source: str
    flow_id: int | None
    seq: int = 0
    answer_at: int = 0

    @property
    def question(self) -> str:
        """Of a turn, what the person said."""
        return self.text[: self.answer_at].rstrip()

    @property
    def answer(self) -> str:
        """Of a turn, what it was answered."""
        return self.text[self.answer_at :]


def look_up(asked: Asked, meaning: Meaning, *, until: float) -> list[Hit]:
    """The best hits. No statement takes longer than to `until`, a reading of the monotonic clock.

    Raises `django.db.Error`.
    """
    scope = asked.scope
    with transaction.atomic():
        has_units, behind = _prepare(scope, milliseconds=max(1, int((until - time.monotonic()) * 1000)))
        if not has_units and not behind:
            return []
        meaning.begin()
        # Ids below zero: they are not in the tables.
        drafts = {-number: draft for number, draft in enumerate(pending(scope, behind), start=1)}
        unstored = [Unstored(number, draft.counts) for number, draft in drafts.items()]
        matches = keyword.best(scope, asked.tokens, unstored=unstored, limit=DEPTH)
        cosines = meaning.nearest(scope, [number for number in matches.scores if number > 0])
        pended = {number: draft.unit for number, draft in drafts.items() if number in matches.scores}
        looks = _looks(scope, {*matches.scores, *cosines}, pended)
        features = QueryFeatures(asked.tokens, matches.frequencies, matches.units)
        ranked = rank(features, _candidates(looks, matches, cosines), now=timezone.now())[: asked.limit]
        stored = _rows(READ, scope, {place.id for place in ranked})
        units = {number: _read(number, unit) for number, unit in pended.items()} | {
            row[0]: Read(*row) for row in stored
        }
    weights = {token: bm25.idf(matches.units, matches.frequencies.get(token, 0)) for token in asked.tokens}
    legs = {number: _legs(number, matches, cosines) for number in units}
    # A unit may have been erased while we read.
    return [
        _hit(units[place.id], score=place.score, legs=legs[place.id], weights=weights)
        for place in ranked
        if place.id in units
    ]


def _prepare(scope: Scope, *, milliseconds: int) -> tuple[bool, list[UUID]]:
    """For this transaction: how long a statement may take, and that indexes are read as they are made to be.

    A planner that thinks of slow disks would fetch vectors from all over the table rather than from the index that
    holds an owner's side by side. Says whether there are units in scope, and which sessions indexing is behind with:
    without either, that is all that is asked.
    """
    chosen = {"statement_timeout": str(milliseconds), "enable_bitmapscan": "off", "enable_seqscan": "off", "jit": "off"}
    settings = ", ".join(f"set_config('{name}', '{value}', true)" for name, value in chosen.items())
    has_units = f"EXISTS (SELECT FROM memory_unit WHERE {scope.units})"  # conditions of ours, here and below
    behind = f"ARRAY(SELECT id FROM memory_conversation WHERE {scope.behind})"  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {settings}, {has_units}, {behind}", scope.values)
        *_, found, sessions = cursor.fetchone()
    return found, sessions


def _rows(statement: str, scope: Scope, ids: Collection[int]) -> list[tuple[Any, ...]]:
    """The rows of units of the owner; numbers below zero are not in the tables."""
    with connection.cursor() as cursor:
        cursor.execute(statement, [scope.user.pk, [number for number in ids if number > 0]])
        return list(cursor.fetchall())


def _looks(scope: Scope, ids: Collection[int], pended: dict[int, Unit]) -> list[Look]:
    """Units without the most of their text. A turn that was indexed while we read is there once."""
    looks = [
        Look(pk, turn, session, seq, datetime.fromtimestamp(seconds, UTC), weight, text)
        for pk, turn, session, seq, seconds, weight, text in _rows(LOOK.format(chars=LOOK_CHARS), scope, ids)
    ]
    turns = {look.turn for look in looks}
    for number, unit in pended.items():
        if unit.turn_id not in turns:
            facts = (unit.turn_id, unit.conversation_id, unit.seq, unit.occurred_at, unit.weight)
            looks.append(Look(number, *facts, unit.text[:LOOK_CHARS]))
    return looks


def _read(number: int, unit: Unit) -> Read:
    """A unit that is not in the tables yet, as if it were."""
    return Read(
        id=number,
        kind=unit.kind,
        turn=unit.turn_id,
        episode=None,
        session=unit.conversation_id,
        flow_id=unit.flow_id,
        seq=unit.seq,
        occurred_at=unit.occurred_at,
        text=unit.text,
        answer_at=unit.answer_at,
        title=unit.conversation.title if unit.conversation else None,
        source=unit.conversation.flow_name if unit.conversation else None,
    )


def _candidates(looks: Iterable[Look], matches: Matches, cosines: dict[int, float]) -> list[Candidate]:
    return [
        Candidate(
            id=look.id,
            keyword=matches.scores.get(look.id),
            vector=cosines.get(look.id),
            session=look.session,
            seq=(look.seq + 1) // 2,  # a turn is two messages
            occurred_at=look.occurred_at,
            weight=look.weight,
            text=look.text,
        )
        for look in looks
    ]


def _legs(number: int, matches: Matches, cosines: dict[int, float]) -> dict[str, float | None]:
    return {"keyword": matches.scores.get(number), "vector": cosines.get(number), "graph": None}


def _hit(unit: Read, *, score: float, legs: dict[str, float | None], weights: dict[str, float]) -> Hit:
    return Hit(
        kind=UnitKind(unit.kind),
        id=unit.source_id,
        title=redact(unit.title or ""),
        text=unit.text,
        quote=quote(unit.text, weights),
        turn_ids=[unit.turn] if unit.turn else [],
        session_id=unit.session,
        score=score,
        legs=legs,
        occurred_at=unit.occurred_at,
        source=unit.source or "",
        flow_id=unit.flow_id,
        seq=unit.seq,
        answer_at=unit.answer_at,
    )
