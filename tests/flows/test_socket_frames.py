"""What a socket and a program may say: stops, long words, and everything that is refused (S2, S3, O4)."""

import json
import threading
from typing import Any

import pytest

from flows.models import Flow
from memory.models import Conversation, Turn
from tests.doubles import Answer, ModelServer
from tests.factories import make_flow
from tests.flows.sse import streaming
from tests.people import Person, text_of
from tests.waiting import eventually

SLOW = ("慢慢", "来")


@pytest.mark.parametrize("by", ["the same socket", "another socket", "REST", "a stop before the first piece"])
def test_a_stop_reaches_the_model_while_it_writes(
    bob: Person, flow: Flow, model: ModelServer, gate: threading.Event, by: str
) -> None:
    """S3: its connection is closed, the text so far is kept, everybody hears the one end."""
    early = by == "a stop before the first piece"
    model.enqueue(Answer(SLOW, hold=gate, hold_after=0 if early else 1))
    with bob.socket(flow.pk) as socket, bob.socket(flow.pk) as other:
        socket.send("turn.start", input="讲")
        turn_id = socket.receive()["turn_id"]
        if early:
            assert model.asked.wait(20)
        else:
            socket.until("delta")
        other.send("turn.attach", turn_id=turn_id)
        other.receive()
        if by == "REST":
            response = bob.api.post(f"/api/turns/{turn_id}/stop")
            assert (response.status_code, response.json()) == (202, {"turn_id": turn_id})
        else:
            (other if by == "another socket" else socket).send("turn.stop", turn_id=turn_id)
        ends = [listener.to_end()[-1] for listener in (socket, other)]
    assert ends[0] == ends[1]
    assert (ends[0]["type"], ends[0]["output"]) == ("turn.stopped", "" if early else "慢慢")
    assert model.closed_early.wait(20)
    assert Turn.objects.get().status == "stopped"


def test_who_waits_for_a_stopped_answer_gets_it_with_200(
    bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """S3: a stop is no failure."""
    model.enqueue(Answer(SLOW, hold=gate, hold_after=1))

    with streaming(bob, "POST", f"/api/flows/{flow.pk}/stream", json={"input": "讲", "client_turn_id": "c"}) as opened:
        turn_id = opened.until("delta")[0]["turn_id"]
        bob.api.post(f"/api/turns/{turn_id}/stop")
        assert opened.to_end()[-1]["type"] == "turn.stopped"
    said = bob.says(flow, "讲", client_turn_id="c")
    assert (said["status"], said["output"]) == ("stopped", "慢慢")


def test_stopping_a_turn_that_has_ended_changes_nothing(bob: Person, flow: Flow, model: ModelServer) -> None:
    """S3."""
    turn_id = bob.says(flow, "讲")["turn_id"]
    before = Turn.objects.values().get()
    with bob.socket(flow.pk) as socket:
        socket.send("turn.stop", turn_id=turn_id)
        assert bob.api.post(f"/api/turns/{turn_id}/stop").status_code == 202
        socket.send("turn.attach", turn_id=turn_id)
        assert socket.to_end()[-1]["type"] == "turn.completed"
    assert Turn.objects.values().get() == before


def test_a_hundred_kilobytes_go_both_ways(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M9, S2: over a socket and over REST, whole in the row; the model gets what fits."""
    long = "长" * 50_000 + "a" * 50_000
    model.enqueue(Answer(long), Answer(long))
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input=long)
        events = socket.to_end()
    assert text_of(events) == events[-1]["output"] == long
    said = bob.says(flow, long, session_id=events[0]["session_id"])
    assert said["output"] == long
    assert {(turn.input, turn.output) for turn in Turn.objects.all()} == {(long, long)}
    assert said["memory_used"]["budget"]["dropped_messages"] == 2


REFUSED: dict[str, dict[str, Any]] = {
    "no words": {"input": ""},
    "blanks": {"input": " \n "},
    "nothing at all": {},
    "no text": {"input": ["a"]},
    "too much": {"input": "a" * 200_001},
    "an unknown field": {"input": "a", "user_id": 1},
    "a switch that is none": {"input": "a", "memory": "perhaps"},
    "an id that is too long": {"input": "a", "client_turn_id": "x" * 101},
    "an empty id": {"input": "a", "client_turn_id": ""},
    "a field whose name is half a character": {"input": "a", "\ud83d": 1},
    "inputs that are no texts": {"input": "a", "inputs": {"b": {"c": 1}}},
}


@pytest.mark.parametrize("body", REFUSED.values(), ids=REFUSED.keys())
def test_a_refused_start_is_one_error_frame_and_changes_nothing(
    bob: Person, flow: Flow, model: ModelServer, body: dict[str, Any]
) -> None:
    """S2: and 400 from the API, with the field."""
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", **body)
        frame = socket.receive()
        assert (frame["type"], frame["code"], set(frame)) == ("error", "invalid", {"type", "code", "detail"})
        assert frame["detail"]
    for verb in ("execute", "stream"):
        # As the socket writes it: the client's own JSON cannot hold half a character.
        written = {"content": json.dumps(body), "headers": {"Content-Type": "application/json"}}
        response = bob.api.post(f"/api/flows/{flow.pk}/{verb}", **written)
        assert (response.status_code, response.json()["type"]) == (400, "validation_error")
    assert Conversation.objects.count() == Turn.objects.count() == len(model.chats) == 0


def test_a_start_in_a_busy_session_names_the_running_turn(
    bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """M7: one frame, and the turn goes on."""
    model.enqueue(Answer(SLOW, hold=gate, hold_after=1))
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input="讲")
        started, *_ = socket.until("block", "delta")
        socket.send("turn.start", input="另", session_id=started["session_id"])
        refused = socket.until("error")[-1]
        assert (refused["code"], refused["turn_id"]) == ("turn_running", started["turn_id"])
        gate.set()
        assert socket.to_end()[-1]["output"] == "慢慢来"


@pytest.mark.parametrize(
    ("header", "value"), [("Cookie", "django_language={}"), ("Accept-Language", "{},de;q=0.5")], ids=["chosen", "asked"]
)
def test_errors_speak_the_language_of_the_page(bob: Person, flow: Flow, header: str, value: str) -> None:
    """S1: what was chosen in this browser, else what it asks for."""
    said = {}
    for language in ("zh-hans", "en"):
        with bob.socket(flow.pk, headers={header: value.format(language)}) as socket:
            socket.send("turn.stop", turn_id="x")
            said[language] = socket.receive()["detail"]
    assert said["en"].isascii()
    assert not said["zh-hans"].isascii()


FRAMES = {
    "no JSON": "{",
    "empty": "",
    "a text": '"turn.start"',
    "a list": "[]",
    "a number": "1",
    "null": "null",
    "far too deep": "[" * 100_000,
    "no type": '{"input": "a"}',
    "an unknown type": '{"type": "turn.delete"}',
    "a type that is no text": '{"type": ["turn.start"]}',
    "bytes": b"\x00\xff",
    "JSON as bytes": b'{"type": "turn.start", "input": "a"}',
}


@pytest.mark.parametrize("raw", FRAMES.values(), ids=FRAMES.keys())
def test_a_frame_that_makes_no_sense_closes_nothing(
    bob: Person, flow: Flow, model: ModelServer, raw: str | bytes
) -> None:
    """S2: one error frame each, and the socket goes on."""
    with bob.socket(flow.pk) as socket:
        socket.connection.send(raw)
        frame = socket.receive()
        assert (frame["type"], frame["code"] in ("malformed", "unknown_type")) == ("error", True)
        socket.send("turn.start", input="还在吗")
        assert socket.to_end()[-1]["output"] == "还在吗"


@pytest.mark.parametrize("raw", ["{", '{"type": "turn.delete"}'])
def test_a_frame_that_makes_no_sense_is_refused_in_the_language_of_the_page(bob: Person, flow: Flow, raw: str) -> None:
    """S1."""
    with bob.socket(flow.pk, headers={"Accept-Language": "zh-hans"}) as socket:
        socket.connection.send(raw)
        assert not socket.receive()["detail"].isascii()


@pytest.mark.parametrize("after", [None, "3", -1, 1.5, [], True, 2**70])
def test_an_odd_place_to_attach_at_is_survived(bob: Person, flow: Flow, model: ModelServer, after: Any) -> None:
    """S3."""
    turn_id = bob.says(flow, "你好")["turn_id"]
    with bob.socket(flow.pk) as socket:
        socket.connection.send(json.dumps({"type": "turn.attach", "turn_id": turn_id, "after": after}))
        assert socket.to_end()[-1]["output"] == "你好"


def test_a_turn_of_another_flow_is_not_heard_here(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M2: even for its owner."""
    turn_id = bob.says(make_flow(), "你好")["turn_id"]
    with bob.socket(flow.pk) as socket:
        for kind in ("turn.attach", "turn.stop"):
            socket.send(kind, turn_id=turn_id)
            assert socket.receive()["code"] == "not_found"


def test_one_socket_holds_several_conversations(
    bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """S2: frames carry their turn."""
    model.default = lambda body: Answer(body["messages"][-1]["content"], hold=gate)
    with bob.socket(flow.pk) as socket:
        for words in ("甲", "乙", "丙"):
            socket.send("turn.start", input=words)
        eventually(lambda: len(model.chats) == 3)
        gate.set()
        frames = [frame for _ in range(3) for frame in socket.to_end()]
    for turn in Turn.objects.all():
        mine = [frame for frame in frames if frame["turn_id"] == str(turn.pk)]
        assert [frame["id"] for frame in mine] == list(range(1, len(mine) + 1))
        assert mine[-1]["output"] == turn.input
