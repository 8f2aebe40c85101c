"""Every turn has exactly one end, and nobody hears of it before it is durable (M6, S2, S4)."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from uuid import UUID

import pytest
from django.db import connection, transaction

from flows import conversation, runner
from flows.models import Flow
from flows.voice import Voice
from memory import turns
from memory.models import Turn, TurnStatus
from tests.doubles import Answer, ModelServer
from tests.flows.test_streaming import is_whole
from tests.people import ENDS, Person, Socket
from tests.waiting import eventually


def test_nobody_hears_of_the_end_while_the_commit_waits(
    bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """M6: the terminal event comes after the commit, however long that takes."""
    model.enqueue(Answer(["你", "好"], hold=gate, hold_after=1))
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input="问")
        socket.until("delta")
        with transaction.atomic():
            Turn.objects.select_for_update().get()
            gate.set()
            eventually(commit_waits)
            heard = [json.loads(raw)["type"] for raw in waiting_frames(socket)]
        assert "delta" in heard
        assert not [kind for kind in heard if kind in ENDS]
        assert socket.to_end()[-1]["type"] == "turn.completed"


def commit_waits() -> bool:
    """Whether a turn's end waits for a lock in PostgreSQL."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE wait_event_type = 'Lock' AND query LIKE '%SET status%finished_at%'"
        )
        return bool(cursor.fetchone()[0])


def waiting_frames(socket: Socket) -> Iterator[str]:
    """The frames that are here already."""
    with suppress(TimeoutError):
        while True:
            yield str(socket.connection.recv(timeout=0.2))


def test_a_turn_that_was_closed_elsewhere_keeps_what_was_said(
    bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """S4: a process that was thought dead ends as the others say, and loses no word that its person has read."""
    model.enqueue(Answer(["说到", "这里"], hold=gate, hold_after=1))
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input="讲")
        socket.until("delta")
        Turn.objects.update(status=TurnStatus.INTERRUPTED, output="")
        last = socket.to_end()[-1]
    assert (last["type"], last["output"], Turn.objects.get().output) == ("turn.interrupted", "说到", "说到")


def test_a_stop_that_only_postgresql_heard_of_is_obeyed(
    bob: Person, flow: Flow, model: ModelServer, gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3: by a heartbeat, one of which may fail in any way."""
    beats = iter([RuntimeError])

    def sometimes(held: Sequence[tuple[UUID, str | None]]) -> turns.Heartbeat:
        for error in beats:
            raise error
        return turns.heartbeat(held)

    monkeypatch.setattr(runner, "heartbeat", sometimes)
    model.enqueue(Answer(["说到", "这里"], hold=gate, hold_after=1))
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input="讲")
        started, *_ = socket.until("delta")
        turns.request_stop(bob.user, UUID(started["turn_id"]))
        assert socket.to_end()[-1]["type"] == "turn.stopped"
    assert list(beats) == []


def test_an_answer_that_cannot_be_saved_has_one_end_that_says_so(
    bob: Person, flow: Flow, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S2, M6: PostgreSQL refuses it every time."""
    monkeypatch.setattr(conversation, "COMMIT_PAUSES", (0, 0))
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE memory_turn ADD CONSTRAINT refused CHECK (status <> 'complete')")
    try:
        with bob.socket(flow.pk) as socket:
            socket.send("turn.start", input="你好")
            events = socket.to_end()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE memory_turn DROP CONSTRAINT refused")
    assert is_whole(events)
    assert (events[-1]["type"], events[-1]["code"], events[-1]["output"]) == ("turn.failed", "not_saved", "你好")


def test_a_fault_of_ours_at_the_end_leaves_nobody_waiting(
    bob: Person, flow: Flow, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S2: always exactly one terminal event."""

    def broken(_voice: Voice) -> str:
        raise RuntimeError

    monkeypatch.setattr(Voice, "finish_blocks", broken)
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input="你好")
        last = socket.to_end()[-1]
    assert (last["type"], last["code"], last["output"]) == ("turn.failed", "node_failed", "你好")
