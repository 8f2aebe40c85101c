"""Opening and ending turns: what makes an answer durable, and one turn at a time in a session."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from llm.text import safe
from memory import opening
from memory.consolidation import redo
from memory.errors import (
    ClientTurnIdReused,
    NotTheLastTurn,
    SessionNotFound,
    TurnEnded,
    TurnNotFound,
    TurnRunning,
)
from memory.models import Conversation, ForgetfulFlow, MemoryOwner, Turn, TurnStatus, Unit
from memory.models.conversation import lease
from memory.person import Person


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What a client asks for: the flow as memory knows it, the words, and where they belong.

    `memory` and `flow_memory` narrow what is remembered; None and True leave it to the other switches.
    `replaces` is the last turn of the session, when this one answers it again or edits it.
    """

    flow_id: int
    flow_name: str
    flow_version: int
    input: str
    session_id: UUID | None = None
    client_turn_id: str | None = None
    memory: bool | None = None
    flow_memory: bool = True
    replaces: UUID | None = None
    inputs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OpenedTurn:
    """A turn and its session's row; not `fresh` when the same request had opened it before."""

    turn: Turn
    conversation: Conversation
    fresh: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a turn ended."""

    status: TurnStatus
    output: str = ""
    error_code: str = ""
    waiting: UUID | None = None
    usage: dict[str, int] = field(default_factory=dict)
    memory_used: dict[str, Any] = field(default_factory=dict)


def open_turn(user: Person, request: TurnRequest) -> OpenedTurn:
    """Saves the question as a running turn, in its session or a new one.

    A repeat with the same `client_turn_id` and input gives the turn that it opened first. Raises
    SessionNotFound, TurnRunning, ClientTurnIdReused, TurnNotFound or NotTheLastTurn; then nothing was changed.
    """
    at_once = _open_at_once(user, request)
    if at_once:
        return at_once
    try:
        with transaction.atomic():
            return _open(user, request)
    except IntegrityError:
        # Another request with this client_turn_id committed in between: it is found now.
        with transaction.atomic():
            return _open(user, request)


def _open_at_once(user: Person, request: TurnRequest) -> OpenedTurn | None:
    """The usual case, in one statement; None when there is something to look into."""
    if request.replaces:
        return None
    turn = _question(user, request)
    try:
        # A refusal must not end the transaction of whoever has one; outside of one the statement stays alone.
        with transaction.atomic() if connection.in_atomic_block else nullcontext():
            if request.session_id:
                turn.conversation_id = request.session_id
                saved = opening.continue_session(turn)
            else:
                turn.conversation = _new_session(user, request, turn)
                saved = opening.begin_session(turn)
    except IntegrityError:
        return None  # another request of this session, or with this client_turn_id, was quicker
    return OpenedTurn(turn, turn.conversation, fresh=True) if saved else None


def _open(user: Person, request: TurnRequest) -> OpenedTurn:
    session_id = request.session_id or _session_of(user, request)
    conversation = _locked_session(user, request.flow_id, session_id) if session_id else None
    turn = _question(user, request)
    repeated = _repeated(user, request, turn.input)
    if repeated:
        return OpenedTurn(repeated, repeated.conversation, fresh=False)
    owner, _ = MemoryOwner.objects.get_or_create(user_id=user.pk)
    fresh_session = conversation is None
    if conversation is None:
        conversation = _new_session(user, request, turn)
    else:
        _make_room(conversation)
        _supersede(conversation, request.replaces)
        turn.seq = conversation.last_seq + 1
        conversation.last_seq += 2
        conversation.last_active_at = turn.started_at
    turn.conversation = conversation
    forgetful = ForgetfulFlow.objects.of(user).filter(flow_id=request.flow_id)
    turn.memory_enabled &= owner.memory_enabled and conversation.memory_enabled and not forgetful.exists()
    if fresh_session:
        conversation.save(force_insert=True)
    else:
        conversation.save(update_fields=["last_seq", "last_active_at", "revision", "epoch", "consolidated_seq"])
    turn.save(force_insert=True)
    return OpenedTurn(turn, conversation, fresh=True)


def _question(user: Person, request: TurnRequest) -> Turn:
    """The turn, in no session yet. Each switch can only narrow: here the flow's and the request's."""
    return Turn(
        user_id=user.pk,
        flow_id=request.flow_id,
        seq=1,
        client_turn_id=request.client_turn_id,
        input=safe(request.input),
        inputs=request.inputs,
        replaces_id=request.replaces,
        memory_enabled=request.flow_memory and request.memory is not False,
        lease_until=lease(),
    )


def _new_session(user: Person, request: TurnRequest, first: Turn) -> Conversation:
    return Conversation(
        user_id=user.pk,
        flow_id=request.flow_id,
        flow_name=request.flow_name,
        flow_version=request.flow_version,
        title=opening.first_words(first.input),
        last_seq=2,
        last_active_at=first.started_at,
    )


def _session_of(user: Person, request: TurnRequest) -> UUID | None:
    """The session of the turn that is to be replaced, when the request names no session."""
    if request.replaces is None:
        return None
    turn = Turn.objects.visible_to(user).filter(pk=request.replaces, flow_id=request.flow_id).first()
    if turn is None:
        raise TurnNotFound
    return turn.conversation_id


def _locked_session(user: Person, flow_id: int, session_id: UUID) -> Conversation:
    mine = Conversation.objects.visible_to(user).filter(pk=session_id, flow_id=flow_id)
    conversation = mine.select_for_update().first()
    if conversation is None:
        raise SessionNotFound
    return conversation


def _repeated(user: Person, request: TurnRequest, words: str) -> Turn | None:
    if request.client_turn_id is None:
        return None
    same_id = Turn.objects.visible_to(user).filter(flow_id=request.flow_id, client_turn_id=request.client_turn_id)
    turn = same_id.select_related("conversation").first()
    if turn and (turn.input != words or request.session_id not in (None, turn.conversation_id)):
        raise ClientTurnIdReused(turn.pk)
    return turn


def _make_room(conversation: Conversation) -> None:
    """Refuses while a turn runs; one whose process died is closed as interrupted."""
    running = conversation.turns.filter(status=TurnStatus.RUNNING).first()
    if running is None:
        return
    if not running.lease_is_dead:
        raise TurnRunning(running.pk)
    conversation.turns.filter(pk=running.pk, status=TurnStatus.RUNNING).update(
        status=TurnStatus.INTERRUPTED, finished_at=timezone.now()
    )


def _supersede(conversation: Conversation, turn_id: UUID | None) -> None:
    if turn_id is None:
        return
    last = Turn.objects.shown(conversation).last()
    if last is None or last.pk != turn_id:
        raise NotTheLastTurn if conversation.turns.filter(pk=turn_id).exists() else TurnNotFound
    conversation.turns.filter(pk=turn_id).update(status=TurnStatus.SUPERSEDED)
    Unit.objects.filter(turn=turn_id, user_id=conversation.user_id).delete()  # no longer found from now on
    redo(conversation, turn_id)
    conversation.revision += 1
    conversation.epoch += 1  # what is being made of the old turn is not stored


# One statement in autocommit: the answer is durable when it returns, at the price of a single commit.
END = """
UPDATE memory_turn
SET status = %s, output = %s, error_code = %s, waiting = %s, usage = %s, memory_used = %s, finished_at = %s
WHERE id = %s AND user_id = %s AND status = 'running'
"""


def end_turn(turn: Turn, outcome: Outcome) -> None:
    """Commits how a running turn ended, in the row and in `turn`. Raises TurnEnded when it no longer runs."""
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(
            END,
            [
                outcome.status,
                outcome.output,
                outcome.error_code,
                outcome.waiting,
                orjson.dumps(outcome.usage).decode(),
                orjson.dumps(outcome.memory_used).decode(),
                now,
                turn.pk,
                turn.user_id,
            ],
        )
        if not cursor.rowcount:
            raise TurnEnded
    turn.status, turn.output, turn.finished_at = outcome.status, outcome.output, now
    turn.error_code, turn.waiting = outcome.error_code, outcome.waiting
    turn.usage, turn.memory_used = outcome.usage, outcome.memory_used


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """What a process learns about its running turns once a second."""

    stop: set[UUID]
    """Somebody asked for these to stop."""
    gone: set[UUID]
    """These no longer run as far as PostgreSQL knows: erased, or closed by another process."""
    interrupted: list[UUID]
    """Turns of dead processes that this heartbeat closed."""


# Renewing, saving partial text, reading stop flags and closing the turns of dead processes: one statement.
HEARTBEAT = """
WITH held AS (SELECT * FROM unnest(%s::uuid[], %s::text[]) AS held (id, output)),
renewed AS (
    UPDATE memory_turn turn
    SET lease_until = %s, output = COALESCE(held.output, turn.output)
    FROM held WHERE turn.id = held.id AND turn.status = 'running'
    RETURNING turn.id, turn.stop_requested
),
dead AS (
    UPDATE memory_turn SET status = 'interrupted', finished_at = %s
    WHERE status = 'running' AND lease_until < %s AND id NOT IN (SELECT id FROM held)
    RETURNING id
)
SELECT id, CASE WHEN stop_requested THEN 'stop' ELSE 'run' END FROM renewed
UNION ALL SELECT id, 'interrupted' FROM dead
"""


def heartbeat(held: Sequence[tuple[UUID, str | None]] = ()) -> Heartbeat:
    """Renews the leases of `held` turns (id, partial text or None when unchanged) and closes dead ones."""
    now = timezone.now()
    ids = [turn_id for turn_id, _ in held]
    with connection.cursor() as cursor:
        cursor.execute(HEARTBEAT, [ids, [text for _, text in held], lease(), now, now])
        found: dict[UUID, str] = dict(cursor.fetchall())
    return Heartbeat(
        stop={turn_id for turn_id, word in found.items() if word == "stop"},
        gone=set(ids) - set(found),
        interrupted=[turn_id for turn_id, word in found.items() if word == "interrupted"],
    )


def keep_partial_text(turn_id: UUID, text: str) -> Turn | None:
    """Gives an interrupted turn the text that its process had said but not saved. None when the turn is gone."""
    turn = Turn.objects.filter(pk=turn_id, status=TurnStatus.INTERRUPTED).first()
    if turn and len(text) > len(turn.output):
        Turn.objects.filter(pk=turn_id, status=TurnStatus.INTERRUPTED).update(output=text)
        turn.output = text
    return turn


def request_stop(user: Person, turn_id: UUID) -> Turn:
    """Asks for a turn to stop, whichever process runs it. Raises TurnNotFound; an ended turn stays as it is."""
    mine = Turn.objects.visible_to(user).filter(pk=turn_id)
    mine.filter(status=TurnStatus.RUNNING).update(stop_requested=True)
    turn = mine.first()
    if turn is None:
        raise TurnNotFound
    return turn
