"""What runs propose: kept before the turn ends, and told to clients in one shape."""

from collections.abc import Iterable, Iterator
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from flows.models import Action, ActionStatus
from flows.turn import FlowTurn
from memory.errors import TurnNotFound
from memory.models import Turn
from memory.person import Person
from profiles import work

EXPORTED = (
    *("id", "turn_id", "kind", "card", "status", "fields", "created_at", "expires_at", "answered_at"),
    "result_turn_id",
)


def keep(turn: FlowTurn) -> None:
    """Saves what the run of a turn proposed; once, however often it is called.

    The turn still runs: only when it ends as one that waits can its action be answered, so that a process killed in
    between leaves nothing that could be clicked. Raises TurnNotFound when the turn was erased meanwhile.
    """
    if turn.paused is None:
        return
    proposal = turn.paused.proposal
    action = Action(
        id=turn.action_id,
        user_id=turn.user.pk,
        turn=turn.turn,
        kind=proposal.kind,
        card=dict(proposal.card),
        state=turn.paused.state.as_json(),
    )
    try:
        with transaction.atomic():
            Action.objects.bulk_create([action], ignore_conflicts=True)
            if proposal.replaces:
                aside = Action.objects.visible_to(turn.user).filter(pk=proposal.replaces, status=ActionStatus.PENDING)
                aside.update(status=ActionStatus.EXPIRED)
    except IntegrityError:
        raise TurnNotFound from None


def proposed(turn: FlowTurn) -> dict[str, Any]:
    """The data of `action.proposed`: `{action_id, kind, card}`, and `replaces` where it comes in another's place."""
    if turn.paused is None:
        raise ValueError("the run is not paused")
    proposal = turn.paused.proposal
    told = {"action_id": str(turn.action_id), "kind": proposal.kind, "card": dict(proposal.card)}
    return told | ({"replaces": str(proposal.replaces)} if proposal.replaces else {})


def action_of(turn: Turn) -> dict[str, Any] | None:
    """What the turn waits for or waited for, as `shown` gives it."""
    if turn.waiting is None:
        return None
    action = Action.objects.select_related("turn").filter(pk=turn.waiting, user_id=turn.user_id).first()
    return shown([action])[action.pk] if action else None


def shown(actions: Iterable[Action]) -> dict[UUID, dict[str, Any]]:
    """Each action as clients see it, by id.

    `{action_id, kind, card, status, fields, expires_at, result_turn_id, task_id}`: `fields` is what was changed when
    it was accepted, `task_id` the task that came of it, null while there is none.
    """
    known = list(actions)
    tasks = work.given_under({key_of(action.pk): action.user_id for action in known if action.is_answered})
    return {
        action.pk: {
            "action_id": str(action.pk),
            "kind": action.kind,
            "card": action.card,
            "status": action.shown_status,
            "fields": action.fields,
            "expires_at": action.expires_at,
            "result_turn_id": action.result_turn_id and str(action.result_turn_id),
            "task_id": tasks.get(key_of(action.pk)),
        }
        for action in known
    }


def held(user: Person) -> Iterator[dict[str, Any]]:
    """What a person's export says of their actions. Others stand in it by their numbers alone."""
    for row in Action.objects.visible_to(user).order_by("pk").values(*EXPORTED):
        yield row | {"card": _numbered(row["card"])}


def _numbered(value: Any) -> Any:
    """JSON in which each person is their number."""
    if isinstance(value, dict):
        is_person = {"user_id", "display_name"} <= value.keys()
        return value["user_id"] if is_person else {name: _numbered(part) for name, part in value.items()}
    return [_numbered(part) for part in value] if isinstance(value, list) else value


def key_of(action_id: UUID) -> str:
    """Under this name an action does what it does once: as `client_turn_id` of its answer and as `client_key`."""
    return f"action:{action_id}"
