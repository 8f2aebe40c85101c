"""Answering the last question again, or another one in its place (M6)."""

import json
import threading
import uuid

import httpx2
import pytest

from flows.models import Flow
from memory.models import Turn
from tests.doubles import Answer, ModelServer
from tests.factories import linear_definition, make_flow
from tests.memory.hot_copy import items, said_to
from tests.people import Person
from tests.waiting import eventually


def regenerate(person: Person, turn_id: str) -> httpx2.Response:
    return person.api.post(f"/api/turns/{turn_id}/regenerate")


def shown(person: Person, session_id: str) -> list[str]:
    messages = person.api.get(f"/api/memory/sessions/{session_id}").json()["messages"]
    return [message["content"] for message in messages]


def status_of(person: Person, turn_id: str) -> str:
    return str(person.api.get(f"/api/turns/{turn_id}").json()["status"])


def code_of(response: httpx2.Response) -> tuple[int, str]:
    return response.status_code, response.json()["errors"][0]["code"]


def test_regenerating_answers_the_same_question_in_a_new_turn(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M6: the old one is superseded, out of the messages, the window and the prompt."""
    model.enqueue(Answer("A1"), Answer("坏答案"), Answer("好答案"))
    first = bob.says(flow, "Q1")
    old = bob.says(flow, "Q2", session_id=first["session_id"])
    response = regenerate(bob, old["turn_id"])
    assert response.status_code == 202
    new = response.json()["turn_id"]
    eventually(lambda: status_of(bob, new) == "complete")
    assert said_to(model) == ["user: Q1", "assistant: A1", "user: Q2"]
    assert status_of(bob, old["turn_id"]) == "superseded"
    assert shown(bob, first["session_id"]) == ["Q1", "A1", "Q2", "好答案"]
    assert [item["content"] for item in items(first["session_id"])] == ["Q1", "A1", "Q2", "好答案"]
    bob.says(flow, "Q3", session_id=first["session_id"])
    assert said_to(model) == ["user: Q1", "assistant: A1", "user: Q2", "assistant: 好答案", "user: Q3"]


def test_editing_puts_another_question_in_the_place_of_the_last(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M6: over REST and over a socket."""
    first = bob.says(flow, "Q1")
    session, old = first["session_id"], first["turn_id"]
    new = bob.says(flow, "Q1 改", session_id=session, edit_of=old)
    assert shown(bob, session) == ["Q1 改", "Q1 改"]
    assert said_to(model) == ["user: Q1 改"]
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input="Q1 再改", session_id=session, edit_of=new["turn_id"])
        last = socket.to_end()[-1]
    assert shown(bob, session) == ["Q1 再改", "Q1 再改"]
    assert [status_of(bob, turn) for turn in (old, new["turn_id"], last["turn_id"])] == [
        *("superseded", "superseded", "complete")
    ]
    assert bob.api.get(f"/api/memory/sessions/{session}").json()["message_count"] == 2


def test_an_edit_finds_the_session_of_its_turn(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M6: without `session_id` as well; never a new conversation beside it."""
    first = bob.says(flow, "Q1")
    assert bob.says(flow, "Q1 改", edit_of=first["turn_id"])["session_id"] == first["session_id"]
    assert shown(bob, first["session_id"]) == ["Q1 改", "Q1 改"]


def test_a_session_stays_with_the_version_that_it_began_with(bob: Person, flow: Flow, model: ModelServer) -> None:
    """F1: whether a message goes on, replaces the last one, or is answered again."""
    first = bob.says(flow, "Q1")
    flow.publish(linear_definition(system="第二版"))
    second = bob.says(flow, "Q1 改", edit_of=first["turn_id"])["turn_id"]
    third = regenerate(bob, second).json()["turn_id"]
    eventually(lambda: status_of(bob, third) == "complete")
    bob.says(flow, "Q2", session_id=first["session_id"])
    bob.says(flow, "新的会话")
    of_second = ["第二版" in chat.body["messages"][0]["content"] for chat in model.chats]
    assert of_second == [False, False, False, False, True]


def test_only_the_last_turn_can_be_replaced(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M6: an earlier one, or one replaced already, is 409 and nothing is changed."""
    first = bob.says(flow, "Q1")
    session = first["session_id"]
    second = bob.says(flow, "Q2", session_id=session)
    third = bob.says(flow, "Q2 改", session_id=session, edit_of=second["turn_id"])
    for turn in (first["turn_id"], second["turn_id"]):
        assert code_of(regenerate(bob, turn)) == (409, "not_the_last_turn")
        body = {"input": "x", "session_id": session, "edit_of": turn}
        refused = bob.api.post(f"/api/flows/{flow.pk}/execute", json=body)
        assert code_of(refused) == (409, "not_the_last_turn")
    assert shown(bob, session) == ["Q1", "Q1", "Q2 改", "Q2 改"]
    assert status_of(bob, third["turn_id"]) == "complete"


def test_regenerating_keeps_the_inputs_that_came_with_the_question(bob: Person, model: ModelServer) -> None:
    """M6, F1: a flow that asks for a city is asked about the same one, however odd the name it came under."""
    definition = linear_definition(system="城市：{{start.city}}")
    definition["nodes"][0]["config"] = {"inputs": ["city"]}
    inputs = {"city": "成都 \ud83d", "a\0b": "没有人问"}
    body = json.dumps({"input": "天气", "inputs": inputs})
    json_type = {"Content-Type": "application/json"}
    address = f"/api/flows/{make_flow(definition).pk}/execute"
    old = bob.api.post(address, content=body, headers=json_type).json()["turn_id"]
    new = regenerate(bob, old).json()["turn_id"]
    eventually(lambda: status_of(bob, new) == "complete")
    assert ["城市：成都 \ufffd" in chat.body["messages"][0]["content"] for chat in model.chats] == [True, True]
    assert [turn.inputs for turn in Turn.objects.all()] == [{"city": "成都 \ufffd", "ab": "没有人问"}] * 2


def test_a_running_turn_cannot_be_replaced(bob: Person, flow: Flow, model: ModelServer, gate: threading.Event) -> None:
    """M7: 409 with its id."""
    model.enqueue(Answer("慢", hold=gate))
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input="Q1")
        turn_id = socket.receive()["turn_id"]
        refused = regenerate(bob, turn_id)
        assert code_of(refused) == (409, "turn_running")
        assert refused.json()["turn_id"] == turn_id
        gate.set()
        assert socket.to_end()[-1]["type"] == "turn.completed"


def test_a_failed_or_stopped_turn_can_be_answered_again(bob: Person, flow: Flow, model: ModelServer) -> None:
    """S4: what the retry button does."""
    model.enqueue(Answer(status=400, error={"message": "no"}), Answer("好了"))
    failed = bob.api.post(f"/api/flows/{flow.pk}/execute", json={"input": "Q1"}).json()["turn_id"]
    new = regenerate(bob, failed).json()["turn_id"]
    eventually(lambda: status_of(bob, new) == "complete")
    session = Turn.objects.get(pk=new).conversation_id
    assert shown(bob, str(session)) == ["Q1", "好了"]


@pytest.mark.parametrize("turn_of", ["nobody", "carol", "another session", "another flow"])
def test_a_turn_of_another_place_cannot_be_replaced(
    bob: Person, carol: Person, flow: Flow, model: ModelServer, turn_of: str
) -> None:
    """M2: the same 404 for all, with and without the session, and nothing is made or changed."""
    session = bob.says(flow, "Q1")["session_id"]
    turn = {
        "nobody": lambda: str(uuid.uuid4()),
        "carol": lambda: carol.says(flow, "Q")["turn_id"],
        "another session": lambda: bob.says(flow, "Q")["turn_id"],
        "another flow": lambda: bob.says(make_flow(), "Q")["turn_id"],
    }[turn_of]()
    before = list(Turn.objects.order_by("pk").values())
    bodies = [{"session_id": session}] if turn_of == "another session" else [{"session_id": session}, {}]
    for body in bodies:
        refused = bob.api.post(f"/api/flows/{flow.pk}/execute", json={"input": "x", "edit_of": turn} | body)
        assert code_of(refused) == (404, "not_found")
    assert list(Turn.objects.order_by("pk").values()) == before


def test_regenerating_keeps_a_turn_without_memory_without_memory(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M11: switches only narrow; answering again must not bring in what its owner had left out."""
    old = bob.says(flow, "不要记", memory=False)["turn_id"]
    new = regenerate(bob, old).json()["turn_id"]
    eventually(lambda: status_of(bob, new) == "complete")
    assert list(Turn.objects.values_list("memory_enabled", flat=True)) == [False, False]
