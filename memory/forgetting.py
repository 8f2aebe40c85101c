"""Erasing: what a person deletes is gone from PostgreSQL and Redis, and no late write brings it back."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F

from memory import window
from memory.errors import SessionNotFound
from memory.models import Conversation, Erasure, MemoryOwner, Turn
from memory.person import Person
from memory.signals import turns_erased


class Scope(StrEnum):
    """How much to erase."""

    SESSION = "session"
    FLOW = "flow"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Report:
    """What went where. `pending` names the stores that were away; they are cleared later by themselves."""

    turns: int = 0
    summaries: int = 0
    keys: int = 0
    pending: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """`{removed: {...}, pending}`, as the API gives it."""
        removed = {"turns": self.turns, "summaries": self.summaries, "keys": self.keys}
        return {
            "removed": dict.fromkeys(("episodes", "vectors", "graph"), 0) | removed,
            "pending": self.pending,
        }


def erase(user: Person, *, scope: Scope, session_id: UUID | None = None, flow_id: int | None = None) -> Report:
    """Deletes the sessions in `scope` with their turns, summaries and hot copies; it cannot be undone.

    A turn that runs in one of them is deleted too: its process notices at the next heartbeat and stops the
    model. For a flow or everything the owner's epoch rises, so that jobs begun before store nothing.
    Raises SessionNotFound when the one session asked for is missing or foreign.
    """
    with transaction.atomic():
        doomed = _doomed(user, scope, session_id, flow_id)
        if scope is Scope.SESSION and not doomed:
            raise SessionNotFound
        if scope is not Scope.SESSION:
            MemoryOwner.objects.get_or_create(user_id=user.pk)
            MemoryOwner.objects.filter(user_id=user.pk).update(epoch=F("epoch") + 1)
        ids = [conversation.pk for conversation in doomed]
        turns = Turn.objects.visible_to(user).filter(conversation__in=ids)
        Erasure.objects.bulk_create(
            Erasure(user_id=user.pk, flow_id=gone.flow_id, session_id=gone.pk) for gone in doomed
        )
        turn_ids = list(turns.values_list("pk", flat=True))
        turns.delete()
        Conversation.objects.visible_to(user).filter(pk__in=ids).delete()
    keys = drain(list(Erasure.objects.filter(user_id=user.pk, session_id__in=ids)))
    turns_erased.send(sender=Turn, turn_ids=turn_ids)
    return Report(
        turns=len(turn_ids),
        summaries=sum(bool(gone.summary) for gone in doomed),
        keys=keys or 0,
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


def drain(erasures: Sequence[Erasure]) -> int | None:
    """Deletes the hot copies of erased sessions; the number of keys that went, None while Redis is away."""
    keys = [window.Keys.of(erasure.user_id, erasure.flow_id, erasure.session_id) for erasure in erasures]
    removed = window.drop(keys) if keys else 0
    if removed is not None:
        Erasure.objects.filter(pk__in=[erasure.pk for erasure in erasures]).delete()
    return removed
