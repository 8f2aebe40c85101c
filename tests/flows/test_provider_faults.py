"""S5: whatever an endpoint does, the person gets a whole answer or one clear end, and nothing is stuck or lost."""

from collections.abc import Sequence
from typing import Any

import pytest

from flows.models import Flow
from llm import attempts
from memory.models import Turn, TurnStatus
from tests.doubles import DONE, Answer, ModelServer, chunk
from tests.people import Person, text_of

HELLO = [chunk({"content": "你好"}), chunk({"content": "，世界"}, finish_reason="stop"), DONE]


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "FIRST_DELAY", 0)


def asks(person: Person, flow: Flow) -> list[dict[str, Any]]:
    """The events of one turn, as a page gets them."""
    with person.socket(flow.pk) as socket:
        socket.send("turn.start", input="你好")
        return socket.to_end()


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param(
            [Answer(status=429, headers={"Retry-After": "0"}), Answer("你好，世界")], id="429 with Retry-After"
        ),
        pytest.param([Answer(status=503), Answer("你好，世界")], id="5xx"),
        pytest.param([Answer(cut_after=0), Answer("你好，世界")], id="cut before the first piece"),
        pytest.param([Answer(events=[{"choices": []}, *HELLO])], id="a chunk without choices"),
        pytest.param(
            [Answer(events=[*HELLO[:2], {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}, DONE])],
            id="usage alone in the last chunk",
        ),
        pytest.param([Answer(events=HELLO[:2])], id="no closing mark"),
    ],
)
def test_the_person_gets_a_whole_answer(bob: Person, flow: Flow, model: ModelServer, answers: Sequence[Answer]) -> None:
    model.enqueue(*answers)
    events = asks(bob, flow)
    assert events[-1]["type"] == "turn.completed"
    assert text_of(events) == events[-1]["output"] == "你好，世界"


@pytest.mark.parametrize(
    ("answer", "code", "text"),
    [
        pytest.param(Answer(["你好", "，世界"], cut_after=1), "model_unavailable", "你好", id="cut in the middle"),
        pytest.param(Answer(status=401), "model_misconfigured", "", id="wrong key"),
        pytest.param(Answer(status=404), "model_misconfigured", "", id="no such model"),
        pytest.param(Answer(status=400), "model_rejected", "", id="refused"),
    ],
)
def test_a_failure_ends_the_turn_with_its_code_and_keeps_the_text(
    bob: Person, flow: Flow, model: ModelServer, answer: Answer, code: str, text: str
) -> None:
    model.enqueue(*[answer] * 4)
    events = asks(bob, flow)
    assert (events[-1]["type"], events[-1]["code"], events[-1]["output"]) == ("turn.failed", code, text)
    assert events[-1]["detail"]
    turn = Turn.objects.get()
    assert (turn.status, turn.error_code, turn.output) == (TurnStatus.FAILED, code, text)


def test_an_empty_answer_is_a_failure_that_says_so(bob: Person, flow: Flow, model: ModelServer) -> None:
    model.enqueue(*[Answer("")] * 4)
    assert asks(bob, flow)[-1]["code"] == "model_empty"


@pytest.mark.parametrize("pieces_before", [0, 1])
def test_a_stall_ends_by_its_deadline(
    bob: Person, flow: Flow, model: ModelServer, settings: Any, pieces_before: int
) -> None:
    settings.LLM_DEADLINES = {"connect": 5, "first_token": 0.3, "idle": 0.3, "total": 5}
    model.enqueue(Answer(["你好", "，世界"], hold=model.closed_early, hold_after=pieces_before))
    events = asks(bob, flow)
    assert events[-1]["code"] == "model_timeout"
    assert text_of(events) == "你好" * pieces_before
    assert model.closed_early.wait(10)


def test_broken_utf8_is_shown_as_a_mark_and_ends_nothing(bob: Person, flow: Flow, model: ModelServer) -> None:
    broken = b'data: {"choices":[{"index":0,"delta":{"content":"a\xff\xfeb"}}]}\n\n'
    model.enqueue(Answer(events=[broken, *HELLO]))
    events = asks(bob, flow)
    assert events[-1]["type"] == "turn.completed"
    assert "\ufffd" in events[-1]["output"]
    assert events[-1]["output"].endswith("你好，世界")


@pytest.mark.parametrize(("code", "status"), [(401, 502), (500, 502)])
def test_a_program_gets_a_real_status_with_the_turn(
    bob: Person, flow: Flow, model: ModelServer, code: int, status: int
) -> None:
    model.enqueue(*[Answer(status=code)] * 4)
    response = bob.api.post(f"/api/flows/{flow.pk}/execute", json={"input": "你好"})
    assert response.status_code == status
    assert response.json()["turn_id"] == str(Turn.objects.get().pk)


def test_after_a_failure_the_conversation_goes_on_without_it(bob: Person, flow: Flow, model: ModelServer) -> None:
    model.enqueue(Answer(status=401))
    events = asks(bob, flow)
    bob.says(flow, "再问一次", session_id=events[0]["session_id"])
    sent = model.chats[-1].body["messages"]
    assert [message["content"] for message in sent if message["role"] == "user"] == ["再问一次"]
