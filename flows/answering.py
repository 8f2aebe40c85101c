"""Answering what a run proposed: the answer opens a new turn of the same session, in which the run goes on.

An answer and its turn are written in one transaction, under the lock of the session: of any number of answers, at the
same time or later, the first one counts and the others are given its turn.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from flows.cards import checked
from flows.conversation import Command, open_turn
from flows.errors import ActionExpired, ActionNotFound
from flows.models import Action, ActionStatus
from flows.nodes.base import Answered
from flows.pausing import Resume, State
from flows.proposals import key_of
from flows.turn import FlowTurn
from memory.errors import ClientTurnIdReused
from memory.models import Conversation, Turn
from memory.person import Person
from profiles.naming import fold

REFUSALS = frozenset(
    (
        "取消",
        "不用了",
        "不用",
        "算了",
        "不要了",
        "不派了",
        "先不派了",
        "cancel",
        "never mind",
        "nevermind",
        "no thanks",
        "no, thanks",
    )
)
"""What declines an open card when it is the whole message. Nothing that is typed accepts one."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A turn that was opened; `run` is what has still to be launched, None for one that was there before."""

    turn_id: UUID
    run: FlowTurn | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A person's answer to a card."""

    accept: bool
    fields: Mapping[str, Any] = field(default_factory=dict)


def open_words(user: Person, command: Command) -> Opened:
    """Opens the turn of a message; see `flows.conversation.open_turn` for its errors.

    One that only says 取消 declines the card that the turn before it waits with.
    """
    if command.session_id and command.edit_of is None and fold(command.input).strip(" 。.!,") in REFUSALS:
        refused = _refuse(user, command, session_id=command.session_id)
        if refused:
            return refused
    return _opened(*open_turn(user, command))


@transaction.atomic
def open_answer(user: Person, action_id: UUID, reply: Reply, *, flow_id: int | None = None) -> Opened:
    """Opens the turn in which the run goes on; the turn of the first answer when there was one before.

    Raises ActionNotFound, ActionExpired, ValidationError for the fields, and the errors of opening a turn, such as
    TurnRunning; then nothing was changed and the action is still pending.
    """
    action = _locked(user, action_id, flow_id)
    if action.is_answered and action.result_turn_id:
        return Opened(action.result_turn_id)
    if not action.is_open:
        raise ActionExpired
    fields = checked(action.kind, reply.fields, card=action.card, user=user) if reply.accept else {}
    command = Command(
        flow_id=action.turn.flow_id,
        input=_("Confirm") if reply.accept else _("Cancel"),
        session_id=action.turn.conversation_id,
        client_turn_id=key_of(action.pk),
        memory=None if action.turn.memory_enabled else False,
    )
    return _answer(user, action, command, Reply(reply.accept, fields))


def open_again(user: Person, old: Turn) -> Opened:
    """Answers the last question of a session again; a turn that answered a card goes on with the same answer."""
    command = Command(
        flow_id=old.flow_id,
        input=old.input,
        inputs=old.inputs,
        session_id=old.conversation_id,
        memory=None if old.memory_enabled else False,
        edit_of=old.pk,
    )
    action = Action.objects.visible_to(user).select_related("turn").filter(result_turn=old.pk).first()
    if action is None:
        return _opened(*open_turn(user, command))
    with transaction.atomic():
        turn, _fresh = open_turn(user, command)
        Action.objects.visible_to(user).filter(pk=action.pk).update(result_turn=turn.turn_id)
    return Opened(turn.turn_id, _going_on(turn, action))


@transaction.atomic
def _refuse(user: Person, command: Command, *, session_id: UUID) -> Opened | None:
    """Declines what the last turn of the session waits for; None when it waits for nothing."""
    mine = Conversation.objects.visible_to(user).filter(pk=session_id, flow_id=command.flow_id)
    conversation = mine.select_for_update().first()
    last = Turn.objects.shown(conversation).select_related("action__turn").last() if conversation else None
    action: Action | None = getattr(last, "action", None)
    return _answer(user, action, command, Reply(accept=False)) if action and action.is_open else None


def _locked(user: Person, action_id: UUID, flow_id: int | None) -> Action:
    """The action, under the lock of its session, which erasing takes first too. Raises ActionNotFound."""
    mine = Action.objects.visible_to(user).filter(pk=action_id).select_related("turn")
    if flow_id is not None:
        mine = mine.filter(turn__flow_id=flow_id)
    sessions = Conversation.objects.visible_to(user).filter(turns__action__in=mine.values("pk"))
    list(sessions.select_for_update(of=("self",)))
    action = mine.first()
    if action is None:
        raise ActionNotFound
    return action


def _answer(user: Person, action: Action, command: Command, reply: Reply) -> Opened:
    turn, fresh = open_turn(user, command)
    if not fresh:  # somebody gave this name to a message of theirs
        raise ClientTurnIdReused(turn.turn_id)
    action.status = ActionStatus.ACCEPTED if reply.accept else ActionStatus.DECLINED
    action.fields, action.answered_at, action.result_turn = dict(reply.fields), timezone.now(), turn.turn
    action.save(update_fields=["status", "fields", "answered_at", "result_turn"])
    return Opened(turn.turn_id, _going_on(turn, action))


def _going_on(turn: FlowTurn, action: Action) -> FlowTurn:
    """The turn, made to go on where the action paused, with what the person had said there."""
    accepted = action.status == ActionStatus.ACCEPTED
    answer = Answered(accepted=accepted, fields=action.fields, card=action.card, action_id=action.pk)
    turn.resume = Resume(State.of_json(action.state), answer)
    turn.asked = action.turn.input
    turn.inputs = action.turn.inputs | {"input": action.turn.input}
    return turn


def _opened(turn: FlowTurn, fresh: bool) -> Opened:
    return Opened(turn.turn_id, turn if fresh else None)
