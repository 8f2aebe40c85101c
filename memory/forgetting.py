"""Erasing: what a person deletes is gone from PostgreSQL and Redis, and no late write brings it back.

Whoever erases locks the sessions first, then the owner's row, and only then touches what was made of them. Whatever
else changes several episodes of an owner takes the same locks in the same order, so that neither waits for the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from memory import window
from memory.cascade import Removed, delete_owned, delete_rows
from memory.episodes import forgotten, graph_size
from memory.errors import SessionNotFound
from memory.models import (
    Conversation,
    Episode,
    Erasure,
    MemoryOwner,
    Posting,
    TokenUse,
    Turn,
    Unit,
    UnitVector,
)
from memory.person import Person
from memory.signals import turns_erased

DECISIONS = (MemoryOwner, Erasure)
"""Never erased while there is an account: the switches and the epoch, and what is still to be deleted in Redis."""
COUNTS = (TokenUse,)
"""Not memory, so that clearing memory leaves them: numbers without a word."""


class Scope(StrEnum):
    """How much to erase."""

    SESSION = "session"
    FLOW = "flow"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Report:
    """What went where: in the words of the product, and row by row for each table.

    `pending` names the stores that were away; they are cleared later by themselves.
    """

    turns: int = 0
    summaries: int = 0
    keys: int = 0
    vectors: int = 0
    episodes: int = 0
    graph: int = 0
    tables: dict[str, int] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """`{removed: {...}, tables: {...}, pending}`, as the API gives it."""
        counted = ("turns", "summaries", "episodes", "vectors", "graph", "keys")
        removed = {name: getattr(self, name) for name in counted}
        return {"removed": removed, "tables": self.tables, "pending": self.pending}


def erase(user: Person, *, scope: Scope, session_id: UUID | None = None, flow_id: int | None = None) -> Report:
    """Deletes the sessions in `scope` with their turns, summaries and hot copies; it cannot be undone.

    A turn that runs in one of them is deleted too: its process notices at the next heartbeat and stops the
    model. For a flow or everything the owner's epoch rises, so that jobs begun before store nothing.
    Raises SessionNotFound when the session asked for is missing or foreign, or the user has nothing in the flow.
    """
    with transaction.atomic():
        doomed = _doomed(user, scope, session_id, flow_id)
        MemoryOwner.objects.lock(user, raise_epoch=scope is not Scope.SESSION)
        ids = [conversation.pk for conversation in doomed]
        episodes = _doomed_episodes(user, scope, ids, flow_id)
        if scope is not Scope.ALL and not doomed and not episodes:
            raise SessionNotFound
        turn_ids = list(Turn.objects.visible_to(user).filter(conversation__in=ids).values_list("pk", flat=True))
        Erasure.objects.bulk_create(
            Erasure(user_id=user.pk, flow_id=gone.flow_id, session_id=gone.pk) for gone in doomed
        )
        tables = _searched(user, Unit.objects.of(user).filter(Q(conversation__in=ids) | Q(episode__in=episodes)))
        graph = graph_size(user)
        tables += forgotten(user, episodes)
        tables += delete_rows(Conversation.objects.visible_to(user).filter(pk__in=ids))
        if scope is Scope.ALL:
            tables += delete_owned(user, packages=("memory",), keep=(*DECISIONS, *COUNTS))
        graph -= graph_size(user)
    keys = drain(list(Erasure.objects.filter(user_id=user.pk, session_id__in=ids)))
    turns_erased.send(sender=Turn, user_id=user.pk, session_ids=ids, turn_ids=turn_ids)
    return Report(
        turns=len(turn_ids),
        summaries=sum(bool(gone.summary) for gone in doomed),
        keys=keys or 0,
        vectors=tables[UnitVector._meta.db_table],
        episodes=len(episodes),
        graph=graph,
        tables=dict(sorted(tables.items())),
        pending=[] if keys is not None else ["redis"],
    )


def _doomed(user: Person, scope: Scope, session_id: UUID | None, flow_id: int | None) -> list[Conversation]:
    """The sessions in scope, locked, so that a turn about to open in one of them waits and finds it gone."""
    mine = Conversation.objects.visible_to(user).select_for_update().order_by("pk")
    match scope:
        case Scope.SESSION:
            of_flow = mine if flow_id is None else mine.filter(flow_id=flow_id)
            return list(of_flow.filter(pk=session_id)) if session_id else []
        case Scope.FLOW:
            return list(mine.filter(flow_id=flow_id)) if flow_id is not None else []
        case Scope.ALL:
            return list(mine)


def _doomed_episodes(user: Person, scope: Scope, sessions: Sequence[UUID], flow_id: int | None) -> list[UUID]:
    """The episodes of these sessions; of a flow also those that outlived theirs, of everything all there are."""
    mine = Episode.objects.held_for(user)
    if scope is not Scope.ALL:
        drawn = Q(conversation__in=sessions)
        if scope is Scope.FLOW and flow_id is not None:
            drawn |= Q(conversation=None, flow_id=flow_id)
        mine = mine.filter(drawn)
    return list(mine.values_list("pk", flat=True))


def _searched(user: Person, units: QuerySet[Unit]) -> Removed:
    """How many postings and vectors go with these units: a trigger of the table deletes them."""
    return Removed(
        {
            rows._meta.db_table: rows._base_manager.filter(user_id=user.pk, unit__in=units.values("pk")).count()
            for rows in (Posting, UnitVector)
        }
    )


def drain(erasures: Sequence[Erasure]) -> int | None:
    """Deletes the hot copies of erased sessions; the number of keys that went, None while Redis is away."""
    keys = [window.Keys.of(erasure.user_id, erasure.flow_id, erasure.session_id) for erasure in erasures]
    removed = window.drop(keys) if keys else 0
    if removed is not None:
        Erasure.objects.filter(pk__in=[erasure.pk for erasure in erasures]).delete()
    return removed
