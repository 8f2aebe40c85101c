"""A turn from the question to the durable answer, and all the ways in which it can end (M6, M7)."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from flows.models import Flow
from flows.plugins import Plugin
from flows.turn import FlowTurn
from memory import turns
from memory.models import Conversation, Turn, TurnStatus
from tests.doubles import Answer, ModelServer
from tests.factories import TurnFactory
from tests.memory.hot_copy import items, said_to
from tests.people import Person
from tests.waiting import eventually

REFUSED = Answer(status=400, error={"message": "no"})


class Broken(Plugin):
    """A plugin with a fault."""

    name = "broken"

    async def before(self, turn: FlowTurn) -> None:
        raise RuntimeError


def test_the_question_is_durable_before_the_model_is_asked(
    bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """M6: and the turn says that it runs."""
    model.enqueue(Answer("好", hold=gate))
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input="在吗？")
        assert model.asked.wait(20)
        turn = Turn.objects.get()
        assert (turn.input, turn.output, turn.status, turn.finished_at) == ("在吗？", "", "running", None)
        session = bob.api.get(f"/api/memory/sessions/{turn.conversation_id}").json()
        assert [(m["role"], m["content"], m["status"]) for m in session["messages"]] == [("user", "在吗？", "running")]
        assert session["running_turn_id"] == str(turn.pk)


@pytest.mark.parametrize(
    ("answer", "ending"),
    [
        (Answer(["你", "好"]), ("turn.completed", "complete", "你好")),
        (Answer(["你", "好"], cut_after=1), ("turn.failed", "failed", "你")),
        (REFUSED, ("turn.failed", "failed", "")),
    ],
    ids=["complete", "failed in the middle", "failed at once"],
)
def test_the_row_is_committed_before_the_client_hears_of_the_end(
    bob: Person, flow: Flow, model: ModelServer, answer: Answer, ending: tuple[str, str, str]
) -> None:
    """M6: read the moment the terminal event arrives."""
    model.enqueue(answer)
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input="问")
        last = socket.to_end()[-1]
        turn = Turn.objects.get()
    assert (last["type"], turn.status, turn.output) == ending
    assert turn.finished_at


def test_a_stopped_answer_keeps_its_text_and_is_replayed(
    bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """M6."""
    model.enqueue(Answer(["说到", "这里"], hold=gate, hold_after=1))
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input="讲个故事")
        started, *_ = socket.until("delta")
        socket.send("turn.stop", turn_id=started["turn_id"])
        last = socket.to_end()[-1]
        assert (last["type"], last["output"]) == ("turn.stopped", "说到")
        turn = Turn.objects.get()
    assert (turn.status, turn.output) == ("stopped", "说到")
    bob.says(flow, "接着说", session_id=started["session_id"])
    assert said_to(model) == ["user: 讲个故事", "assistant: 说到", "user: 接着说"]


def test_an_answer_stopped_before_its_first_word_is_left_out(
    bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """M6: the whole turn, so that no question stands without an answer."""
    session = bob.says(flow, "一")["session_id"]
    model.enqueue(Answer("不会说", hold=gate))
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input="二", session_id=session)
        turn_id = socket.receive()["turn_id"]
        eventually(lambda: len(model.chats) == 2)
        assert bob.api.post(f"/api/turns/{turn_id}/stop").status_code == 202
        assert socket.to_end()[-1]["type"] == "turn.stopped"
    bob.says(flow, "三", session_id=session)
    assert said_to(model) == ["user: 一", "assistant: 一", "user: 三"]
    shown = bob.api.get(f"/api/memory/sessions/{session}").json()
    assert [m["content"] for m in shown["messages"]] == ["一", "一", "二", "三", "三"]
    assert shown["message_count"] == 5


@pytest.mark.parametrize("answer", [REFUSED, Answer(["半", "句"], cut_after=1)], ids=["empty", "with text"])
def test_a_failed_turn_is_shown_but_never_replayed(bob: Person, flow: Flow, model: ModelServer, answer: Answer) -> None:
    """M6: the whole turn is left out of the next prompt, out of the hot copy too."""
    session = bob.says(flow, "一")["session_id"]
    model.enqueue(answer)
    failed = bob.api.post(f"/api/flows/{flow.pk}/execute", json={"input": "二", "session_id": session})
    assert failed.status_code == 502
    bob.says(flow, "三", session_id=session)
    assert said_to(model) == ["user: 一", "assistant: 一", "user: 三"]
    assert [item["content"] for item in items(session)] == ["一", "一", "三", "三"]
    shown = bob.api.get(f"/api/memory/sessions/{session}").json()["messages"]
    assert [m["content"] for m in shown if m["role"] == "user"] == ["一", "二", "三"]
    assert {m["status"] for m in shown if m["turn_id"] == failed.json()["turn_id"]} == {"failed"}


def test_an_interrupted_turn_with_text_is_replayed(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M6, S4."""
    session = bob.says(flow, "一")["session_id"]
    conversation = Conversation.objects.get(pk=session)
    TurnFactory(conversation=conversation, input="二", output="二的半句", status=TurnStatus.INTERRUPTED)
    bob.says(flow, "三", session_id=session)
    assert said_to(model) == ["user: 一", "assistant: 一", "user: 二", "assistant: 二的半句", "user: 三"]


@pytest.mark.django_db
def test_a_start_that_finds_an_expired_lease_closes_that_turn_and_goes_on() -> None:
    """M7: and keeps what the dead process had saved."""
    dead = TurnFactory(status=TurnStatus.RUNNING, output="半", lease_until=timezone.now() - timedelta(seconds=1))
    request = turns.TurnRequest(
        flow_id=dead.flow_id, flow_name="x", flow_version=1, input="下一句", session_id=dead.conversation_id
    )
    opened = turns.open_turn(dead.user, request)
    dead.refresh_from_db()
    assert (dead.status, dead.output) == ("interrupted", "半")
    assert dead.finished_at
    assert (opened.turn.status, opened.turn.seq) == ("running", 3)


@pytest.mark.django_db
def test_a_dead_turn_is_closed_by_any_other_process_and_a_living_one_is_not() -> None:
    """S4: by whoever beats next, the beat job among them; a renewed lease protects."""
    dead = TurnFactory(status=TurnStatus.RUNNING, output="半", lease_until=timezone.now() - timedelta(seconds=1))
    living = TurnFactory(status=TurnStatus.RUNNING, output="", lease_until=timezone.now() + timedelta(seconds=9))
    assert turns.heartbeat().interrupted == [dead.pk]
    assert set(Turn.objects.values_list("status", flat=True)) == {"interrupted", "running"}
    assert turns.heartbeat([(living.pk, "新字")]).gone == set()
    living.refresh_from_db()
    assert living.output == "新字"


@pytest.mark.django_db
def test_only_a_running_turn_can_end() -> None:
    """M6: exactly one end; a late process that was given up changes nothing."""
    turn = TurnFactory(status=TurnStatus.RUNNING, output="")
    turns.end_turn(turn, turns.Outcome(TurnStatus.COMPLETE, "第一个"))
    with pytest.raises(turns.TurnEnded):
        turns.end_turn(turn, turns.Outcome(TurnStatus.STOPPED, "第二个"))
    turn.refresh_from_db()
    assert (turn.status, turn.output) == ("complete", "第一个")


def test_without_any_plugin_question_and_answer_are_still_saved(
    bob: Person, flow: Flow, model: ModelServer, settings: Any
) -> None:
    """M6, M13: recording is no plugin's work; only the earlier turns are missing from the prompt."""
    settings.FLOW_PLUGINS = []
    session = bob.says(flow, "一")["session_id"]
    said = bob.says(flow, "二", session_id=session)
    assert said_to(model) == ["user: 二"]
    assert [turn.output for turn in Turn.objects.order_by("seq")] == ["一", "二"]
    assert said["status"] == "complete"


def test_a_plugin_that_fails_costs_no_answer(bob: Person, flow: Flow, model: ModelServer, settings: Any) -> None:
    """M13, L3: it is left out, and the answer says so."""
    settings.FLOW_PLUGINS = ["tests.memory.test_turns.Broken", *settings.FLOW_PLUGINS]
    session = bob.says(flow, "一")["session_id"]
    said = bob.says(flow, "二", session_id=session)
    assert said["output"] == "二"
    assert said["memory_used"]["missing"] == ["broken"]
    assert said_to(model) == ["user: 一", "assistant: 一", "user: 二"]
