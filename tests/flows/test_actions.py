"""Answering a card: once, by its owner, in time, and never without its turn (M6)."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError
from django.utils import timezone

from config.erasing import erase_person
from flows import conversation
from flows.models import Action, ActionStatus, Flow
from memory.models import Conversation, Turn, TurnStatus
from profiles.models import WorkTask
from tests.doubles import Answer, ModelServer
from tests.factories import make_flow
from tests.flows.test_assigning import SENTENCE, Cast, answer, assigning, cast, ended
from tests.people import Person, sse_events
from tests.waiting import eventually

__all__ = ["assigning", "cast"]
ONE = "给王小明派个任务：交季度报告"


@pytest.fixture
def alice(cast: Cast) -> Person:
    return cast["alice"]


def post(by: Person, action_id: object, **body: Any) -> Any:
    return by.api.post(f"/api/actions/{action_id}", json={"accept": True} | body)


def status_of(by: Person, turn_id: str) -> str:
    return str(by.api.get(f"/api/turns/{turn_id}").json()["action"]["status"])


def code(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["errors"][0]["code"]


def test_twice_is_the_first_result_whatever_the_second_one_says(alice: Person, assigning: Flow) -> None:
    action = alice.says(assigning, ONE)["action"]
    first = post(alice, action["action_id"]).json()
    assert post(alice, action["action_id"]).json() == first
    assert post(alice, action["action_id"], accept=False).json() == first
    assert post(alice, action["action_id"], fields={"title": "另一个"}).json() == first
    ended(alice, first["turn_id"])
    assert WorkTask.objects.get().title == "交季度报告"


def test_of_many_answers_at_the_same_time_one_counts(alice: Person, assigning: Flow) -> None:
    action = alice.says(assigning, ONE)["action"]
    start = threading.Barrier(6)

    def click(number: int) -> Any:
        with Person(alice.user, alice.address).api as api:
            start.wait()
            return api.post(f"/api/actions/{action['action_id']}", json={"accept": number % 2 == 0})

    alice.key  # noqa: B018  # made before the threads need one
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(click, range(6)))
    assert {response.status_code for response in answers} == {202}
    turns = {response.json()["turn_id"] for response in answers}
    assert len(turns) == 1
    ended(alice, turns.pop())
    stored = Action.objects.get()
    assert WorkTask.objects.count() == (stored.status == ActionStatus.ACCEPTED)


def test_foreign_missing_and_malformed_ids_are_the_same_404(alice: Person, cast: Cast, assigning: Flow) -> None:
    action = alice.says(assigning, ONE)["action"]
    bodies = []
    for by, action_id in ((cast["bob"], action["action_id"]), (alice, uuid4()), (alice, "*"), (alice, "x" * 5000)):
        response = post(by, action_id)
        assert response.status_code == 404
        bodies.append(response.text)
    assert len(set(bodies)) == 1
    assert status_of(alice, alice.says(assigning, ONE)["turn_id"]) == "pending"
    assert Action.objects.get(pk=action["action_id"]).status == ActionStatus.PENDING


def test_an_expired_card_is_refused_with_the_remedy(alice: Person, assigning: Flow) -> None:
    said = alice.says(assigning, ONE)
    Action.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    refused = post(alice, said["waiting"])
    assert code(refused) == (409, "action_expired")
    assert "请再说一遍" in refused.json()["errors"][0]["detail"]
    assert status_of(alice, said["turn_id"]) == "expired"


def test_a_card_lasts_as_long_as_the_setting_says(alice: Person, assigning: Flow, settings: Any) -> None:
    settings.ACTION_EXPIRE_HOURS = 2.0
    alice.says(assigning, ONE)
    assert timedelta(hours=1.9) < Action.objects.get().expires_at - timezone.now() <= timedelta(hours=2)


def test_the_card_of_a_replaced_turn_has_expired(alice: Person, assigning: Flow) -> None:
    said = alice.says(assigning, ONE)
    alice.says(assigning, "给李小明派个任务：写周报", session_id=said["session_id"], edit_of=said["turn_id"])
    assert code(post(alice, said["waiting"])) == (409, "action_expired")
    assert not WorkTask.objects.exists()


def test_a_busy_session_leaves_the_card_open(alice: Person, model: ModelServer, gate: threading.Event) -> None:
    chatting = make_flow(
        {
            "schema_version": 1,
            "nodes": [
                {"id": "start", "type": "start"},
                {"id": "assign", "type": "assign_work"},
                {"id": "reply", "type": "llm"},
                {"id": "answer", "type": "answer", "config": {"text": "{{assign.text}}"}},
                {"id": "chat", "type": "answer", "config": {"text": "{{reply.text}}"}},
            ],
            "edges": [
                {"source": "start", "target": "assign"},
                *({"source": "assign", "target": "answer", "branch": way} for way in (None, "declined", "not_given")),
                {"source": "assign", "target": "reply", "branch": "no_work"},
                {"source": "reply", "target": "chat"},
            ],
        }
    )
    said = alice.says(chatting, ONE)
    model.enqueue(Answer(["慢", "慢"], hold=gate, hold_after=1))
    with alice.socket(chatting.pk) as socket:
        socket.send("turn.start", input="你好", session_id=said["session_id"])
        running = socket.until("delta")[0]["turn_id"]
        refused = post(alice, said["waiting"])
        assert code(refused) == (409, "turn_running")
        assert refused.json()["turn_id"] == running
        assert status_of(alice, said["turn_id"]) == "pending"
        gate.set()
        socket.to_end()
    answer(alice, said["action"])
    assert WorkTask.objects.count() == 1


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"colour": "red"}, {"fields.colour"}),
        ({"title": "", "due_at": "yesterday"}, {"fields.title", "fields.due_at"}),
        ({"title": "字" * 201}, {"fields.title"}),
        ({"due_at": "2020-01-01T00:00:00Z"}, {"fields.due_at"}),
        ({"due_at": "2030-01-01T00:00:00"}, {"fields.due_at"}),
        ({"due_at": "9999-12-31T23:59:59-12:00"}, {"fields.due_at"}),
        ({"assignee": "小明"}, {"fields.assignee"}),
        ({"assignee": 2**70}, {"fields.assignee"}),
        ({"description": None}, {"fields.description"}),
        ({}, {"fields.assignee"}),
        ([], {"fields"}),
        (None, {"fields"}),
    ],
)
def test_a_mistake_is_named_by_its_field_and_loses_nothing(
    alice: Person, assigning: Flow, fields: Any, wrong: set[str]
) -> None:
    said = alice.says(assigning, SENTENCE)
    refused = post(alice, said["waiting"], fields=fields)
    assert refused.status_code == 400
    assert {error["attr"] for error in refused.json()["errors"]} == wrong
    assert status_of(alice, said["turn_id"]) == "pending"


def test_somebody_out_of_reach_cannot_be_chosen(alice: Person, cast: Cast, assigning: Flow) -> None:
    """P6: a stranger and nobody at all are told apart by nothing."""
    said = alice.says(assigning, SENTENCE)
    refusals = [post(alice, said["waiting"], fields={"assignee": pk}) for pk in (cast["carol"].user.pk, 10**9)]
    assert {response.status_code for response in refusals} == {400}
    assert len({response.text for response in refusals}) == 1


@pytest.mark.parametrize("body", [{}, {"accept": "perhaps"}, {"accept": None}, {"accept": True, "colour": "red"}])
def test_a_body_that_is_no_answer_is_refused(alice: Person, assigning: Flow, body: dict[str, Any]) -> None:
    said = alice.says(assigning, ONE)
    assert alice.api.post(f"/api/actions/{said['waiting']}", json=body).status_code == 400
    assert status_of(alice, said["turn_id"]) == "pending"


def test_the_card_is_told_before_the_end_and_again_to_whoever_comes_later(alice: Person, assigning: Flow) -> None:
    """M6, S2."""
    with alice.socket(assigning.pk) as socket:
        socket.send("turn.start", input=ONE)
        frames = socket.to_end()
    assert [frame["type"] for frame in frames[-2:]] == ["action.proposed", "turn.completed"]
    proposed, last = frames[-2:]
    assert proposed["kind"] == "assign_work"
    assert proposed["card"]["title"] == "交季度报告"
    assert last["waiting"] == proposed["action_id"]
    plain = sse_events(alice.api.get(f"/api/turns/{last['turn_id']}/events").text)
    assert [event["id"] for event in plain] == list(range(1, len(plain) + 1))
    assert plain[-2]["action_id"] == proposed["action_id"]


def test_over_the_socket_too(alice: Person, cast: Cast, assigning: Flow) -> None:
    with alice.socket(assigning.pk) as socket:
        socket.send("turn.start", input=SENTENCE)
        action_id = socket.to_end()[-1]["waiting"]
        socket.send("action.answer", action_id=action_id, accept=True)
        refused = socket.receive()
        assert (refused["type"], refused["code"]) == ("error", "invalid")
        assert refused["detail"].startswith("fields.assignee")
        for wrong in (str(uuid4()), "*", None):
            socket.send("action.answer", action_id=wrong, accept=True)
            assert socket.receive()["code"] == "not_found"
        socket.send("action.answer", action_id=action_id, accept=True, fields={"assignee": cast["dan"].user.pk})
        frames = socket.to_end()
    assert frames[0]["type"] == "turn.started"
    assert frames[-1]["type"] == "turn.completed"
    assert WorkTask.objects.get().assignee == cast["dan"].user


def test_a_card_of_another_flow_is_not_found_on_this_socket(alice: Person, assigning: Flow) -> None:
    other = make_flow()
    said = alice.says(assigning, ONE)
    with alice.socket(other.pk) as socket:
        socket.send("action.answer", action_id=said["waiting"], accept=True)
        assert socket.receive()["code"] == "not_found"


def test_answering_again_goes_on_again_with_the_same_answer(alice: Person, assigning: Flow) -> None:
    """M6: one task, however often."""
    result = answer(alice, alice.says(assigning, ONE)["action"], title="交年度报告")
    for _ in range(2):
        sent = alice.api.post(f"/api/turns/{result['turn_id']}/regenerate")
        assert sent.status_code == 202
        again = ended(alice, sent.json()["turn_id"])
        assert again["output"] == result["output"]
        result = again
    assert WorkTask.objects.get().title == "交年度报告"


def test_no_action_stands_without_a_turn_that_waits_for_it(
    alice: Person, assigning: Flow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is killed between the two writes leaves a card that nobody can answer."""
    said = alice.says(assigning, ONE)
    turn = Turn.objects.filter(pk=said["turn_id"])
    turn.update(status=TurnStatus.INTERRUPTED, waiting=None)
    assert code(post(alice, said["waiting"])) == (409, "action_expired")
    turn.update(status=TurnStatus.RUNNING, lease_until=timezone.now() + timedelta(minutes=1))
    assert code(post(alice, said["waiting"])) == (409, "action_expired")
    turn.update(status=TurnStatus.COMPLETE, waiting=said["waiting"])
    answer(alice, said["action"])
    assert WorkTask.objects.count() == 1


def test_a_turn_that_cannot_be_committed_tells_no_card_and_leaves_none_to_click(
    alice: Person, assigning: Flow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M6: the card is written before the end of its turn, and counts only with it."""

    def away(*_args: Any, **_options: Any) -> None:
        raise OperationalError

    monkeypatch.setattr(conversation, "COMMIT_PAUSES", ())
    monkeypatch.setattr(conversation.MemoryManager, "record_exchange", away)
    with alice.socket(assigning.pk) as socket:
        socket.send("turn.start", input=ONE)
        frames = socket.to_end()
    assert frames[-1]["code"] == "not_saved"
    assert not [frame for frame in frames if frame["type"] == "action.proposed"]
    monkeypatch.undo()
    assert code(post(alice, Action.objects.get().pk)) == (409, "action_expired")
    Turn.objects.update(lease_until=timezone.now())  # the next heartbeat closes it
    eventually(lambda: Turn.objects.get().status == TurnStatus.INTERRUPTED)
    assert code(post(alice, Action.objects.get().pk)) == (409, "action_expired")


def test_an_answer_that_was_saved_but_never_begun_can_be_tried_again(alice: Person, assigning: Flow) -> None:
    """S4: killed between the click and the run."""
    said = alice.says(assigning, ONE)
    sent = post(alice, said["waiting"]).json()
    eventually(lambda: not Turn.objects.get(pk=sent["turn_id"]).is_running)
    WorkTask.objects.all().delete()
    Turn.objects.filter(pk=sent["turn_id"]).update(status=TurnStatus.INTERRUPTED, output="")
    again = alice.api.post(f"/api/turns/{sent['turn_id']}/regenerate").json()
    assert "王小明" in ended(alice, again["turn_id"])["output"]
    assert WorkTask.objects.count() == 1


def test_a_turn_that_was_erased_while_it_ran_leaves_no_action(
    alice: Person, assigning: Flow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M10."""
    keep = conversation.proposals.keep

    def erased_first(turn: Any) -> None:
        Turn.objects.filter(pk=turn.turn_id).delete()
        keep(turn)

    monkeypatch.setattr(conversation.proposals, "keep", erased_first)
    with alice.socket(assigning.pk) as socket:
        socket.send("turn.start", input=ONE)
        assert socket.to_end()[-1]["code"] == "erased"
    assert not Action.objects.exists()


def test_a_turn_that_is_not_to_be_remembered_is_answered_by_another_one(alice: Person, assigning: Flow) -> None:
    """M11: the answer says as much as the question did."""
    said = alice.says(assigning, ONE, memory=False)
    result = answer(alice, said["action"])
    assert not Turn.objects.get(pk=result["turn_id"]).memory_enabled


def test_erasing_a_session_takes_its_cards_and_leaves_the_task(alice: Person, assigning: Flow) -> None:
    """M10."""
    said = alice.says(assigning, ONE)
    answer(alice, said["action"])
    alice.says(assigning, ONE, session_id=said["session_id"])
    assert Action.objects.count() == 2
    assert alice.api.delete(f"/api/memory/sessions/{said['session_id']}").status_code == 204
    assert not Action.objects.exists()
    assert code(post(alice, said["waiting"])) == (404, "not_found")
    assert WorkTask.objects.get().source_turn is None


def test_erasing_a_person_leaves_no_card(alice: Person, assigning: Flow) -> None:
    """L15."""
    alice.says(assigning, ONE)
    erase_person(alice.user)
    assert not Action.objects.exists()
    assert not Conversation.objects.exists()


def test_ones_own_export_has_ones_cards_and_others_by_number(alice: Person, cast: Cast, assigning: Flow) -> None:
    """L9."""
    said = alice.says(assigning, ONE)
    exported = alice.api.get("/api/memory/export").json()["actions"]
    assert [(row["id"], row["card"]["title"], row["status"]) for row in exported] == [
        (said["waiting"], "交季度报告", "pending")
    ]
    assert exported[0]["card"]["assignee"] == cast["bob"].user.pk
    assert exported[0]["card"]["candidates"] == [cast["bob"].user.pk]
    assert cast["carol"].api.get("/api/memory/export").json()["actions"] == []
