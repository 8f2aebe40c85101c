"""The database's part of a search: both legs, one ranking, and the rows behind the best of it."""

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from django.db import connection, transaction
from django.db.models.functions import Left
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


LOOKED_AT = ("id", "turn", "conversation", "seq", "occurred_at", "weight")


class Look(NamedTuple):
    """What is needed of a unit to rank it."""

    id: int
    turn: UUID | None
    session: UUID | None
    seq: int
    occurred_at: datetime
    weight: float
    text: str


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
        if not _prepare(scope, milliseconds=max(1, int((until - time.monotonic()) * 1000))):
            return []
        meaning.begin()
        # Ids below zero: they are not in the tables.
        drafts = {-number: draft for number, draft in enumerate(pending(scope), start=1)}
        unstored = [Unstored(number, draft.counts) for number, draft in drafts.items()]
        matches = keyword.best(scope, asked.tokens, unstored=unstored, limit=DEPTH)
        cosines = meaning.nearest(scope, [number for number in matches.scores if number > 0])
        pended = {number: draft.unit for number, draft in drafts.items() if number in matches.scores}
        looks = _looks(scope, {*matches.scores, *cosines}, pended)
        features = QueryFeatures(asked.tokens, matches.frequencies, matches.units)
        ranked = rank(features, _candidates(looks, matches, cosines), now=timezone.now())[: asked.limit]
        units = pended | _units(scope, (place.id for place in ranked))
    weights = {token: bm25.idf(matches.units, matches.frequencies.get(token, 0)) for token in asked.tokens}
    legs = {number: _legs(number, matches, cosines) for number in units}
    # A unit may have been erased while we read.
    return [
        _hit(units[place.id], score=place.score, legs=legs[place.id], weights=weights)
        for place in ranked
        if place.id in units
    ]


def _prepare(scope: Scope, *, milliseconds: int) -> bool:
    """For this transaction: how long a statement may take, and that indexes are read as they are made to be.

    A planner that thinks of slow disks would fetch vectors from all over the table rather than from the index that
    holds an owner's side by side. False when there is nothing in scope: then that is all that is asked.
    """
    chosen = {"statement_timeout": str(milliseconds), "enable_bitmapscan": "off", "enable_seqscan": "off", "jit": "off"}
    settings = ", ".join(f"set_config('{name}', '{value}', true)" for name, value in chosen.items())
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {settings}, {scope.has_any}", scope.values)
        return bool(cursor.fetchone()[-1])


def _looks(scope: Scope, ids: Collection[int], pended: dict[int, Unit]) -> list[Look]:
    """Units without the most of their text. A turn that was indexed while we read is there once."""
    stored = Unit.objects.of(scope.user).filter(pk__in=[number for number in ids if number > 0])
    # Values, not rows: a hundred of these would take longer than their search.
    looks = [Look(*row) for row in stored.values_list(*LOOKED_AT, Left("text", LOOK_CHARS))]
    turns = {look.turn for look in looks}
    for number, unit in pended.items():
        if unit.turn_id not in turns:
            facts = (unit.turn_id, unit.conversation_id, unit.seq, unit.occurred_at, unit.weight)
            looks.append(Look(number, *facts, unit.text[:LOOK_CHARS]))
    return looks


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


def _units(scope: Scope, ids: Iterable[int]) -> dict[int, Unit]:
    stored = Unit.objects.of(scope.user).filter(pk__in=[number for number in ids if number > 0])
    return {unit.pk: unit for unit in stored.select_related("conversation")}


def _legs(number: int, matches: Matches, cosines: dict[int, float]) -> dict[str, float | None]:
    return {"keyword": matches.scores.get(number), "vector": cosines.get(number), "graph": None}


def _hit(unit: Unit, *, score: float, legs: dict[str, float | None], weights: dict[str, float]) -> Hit:
    session = unit.conversation
    return Hit(
        kind=UnitKind(unit.kind),
        id=unit.source_id,
        title=redact(session.title) if session else "",
        text=unit.text,
        quote=quote(unit.text, weights),
        turn_ids=[unit.turn_id] if unit.turn_id else [],
        session_id=unit.conversation_id,
        score=score,
        legs=legs,
        occurred_at=unit.occurred_at,
        source=session.flow_name if session else "",
        flow_id=unit.flow_id,
        seq=unit.seq,
        answer_at=unit.answer_at,
    )
