"""Many at once: one turn at a time in a session, repeats that attach, sessions that do not wait (M6, M7)."""

import threading
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import httpx2
import pytest

from flows.models import Flow
from memory.models import Conversation, Turn
from tests.doubles import Answer, ModelServer
from tests.factories import TurnFactory, make_flow
from tests.people import Person
from tests.waiting import eventually

T = TypeVar("T")
MANY = 50


def at_once(work: Callable[[int], T], times: int = MANY) -> list[Future[T]]:
    """Does the work so many times, all of them begun at the same moment."""
    barrier = threading.Barrier(times)

    def wait_and_work(number: int) -> T:
        barrier.wait()
        return work(number)

    pool = ThreadPoolExecutor(times)
    return [pool.submit(wait_and_work, number) for number in range(times)]


def execute(api: httpx2.Client, flow: Flow, **body: Any) -> httpx2.Response:
    return api.post(f"/api/flows/{flow.pk}/execute", json=body)


def running() -> int:
    return Turn.objects.filter(status="running").count()


def test_of_fifty_parallel_starts_in_one_session_one_goes_through(
    bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """M7: the others hear 409 with the id of the running turn, and change nothing."""
    session = bob.says(flow, "一")["session_id"]
    model.enqueue(Answer("二", hold=gate))
    api = bob.api
    starts = at_once(lambda number: execute(api, flow, input=f"并发{number}", session_id=session))
    eventually(lambda: sum(start.done() for start in starts) == MANY - 1)
    turn_id = str(Turn.objects.get(status="running").pk)
    gate.set()
    answers = [start.result() for start in starts]
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: MANY - 1}
    refused = [answer.json() for answer in answers if answer.status_code == 409]
    assert {(body["errors"][0]["code"], body["turn_id"]) for body in refused} == {("turn_running", turn_id)}
    assert Turn.objects.filter(conversation=session).count() == 2
    assert Conversation.objects.get(pk=session).last_seq == 4


def test_fifty_sessions_at_once_wait_for_nobody(
    bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """M7: all of them are with the model at the same time, more than there are database connections."""
    model.default = lambda body: Answer(body["messages"][-1]["content"], hold=gate)
    api = bob.api
    starts = at_once(lambda number: execute(api, flow, input=f"问{number}"))
    eventually(lambda: len(model.chats) == MANY, within=30)
    assert running() == MANY
    gate.set()
    said = [start.result().json()["output"] for start in starts]
    assert said == [f"问{number}" for number in range(MANY)]


def test_a_repeat_while_the_turn_runs_attaches_and_waits(
    bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """M6: over REST and over a socket; the model is asked once."""
    model.enqueue(Answer(["你", "好"], hold=gate, hold_after=1))
    same = {"input": "在吗", "client_turn_id": "c-1"}
    with bob.socket(flow.pk) as first, bob.socket(flow.pk) as second:
        first.send("turn.start", **same)
        started, *_ = first.until("delta")
        second.send("turn.start", **same)
        assert second.until("delta")[0] == started
        waiting = ThreadPoolExecutor(1).submit(execute, bob.api, flow, **same)
        gate.set()
        assert second.to_end()[-1] == first.to_end()[-1]
        assert waiting.result(20).json()["turn_id"] == started["turn_id"]
    assert len(model.chats) == Turn.objects.count() == 1


def test_a_repeat_after_the_end_gives_the_same_answer(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M6."""
    same = {"input": "在吗", "client_turn_id": "c-1"}
    assert bob.says(flow, "在吗", client_turn_id="c-1") == execute(bob.api, flow, **same).json()
    assert len(model.chats) == Turn.objects.count() == 1


@pytest.mark.parametrize("elsewhere", [False, True], ids=["another input", "another session"])
def test_the_id_of_a_turn_cannot_be_used_for_another(
    bob: Person, flow: Flow, model: ModelServer, elsewhere: bool
) -> None:
    """M6: 409 client_turn_id_reused, and nothing is changed."""
    said = bob.says(flow, "在吗", client_turn_id="c-1")
    other = bob.says(flow, "另一个")["session_id"]
    body = {"input": "在吗", "session_id": other} if elsewhere else {"input": "在？", "session_id": said["session_id"]}
    refused = execute(bob.api, flow, client_turn_id="c-1", **body)
    assert refused.status_code == 409
    assert refused.json()["errors"][0]["code"] == "client_turn_id_reused"
    assert refused.json()["turn_id"] == said["turn_id"]
    assert Turn.objects.count() == 2


def test_a_client_turn_id_belongs_to_one_user_and_one_flow(
    bob: Person, carol: Person, flow: Flow, model: ModelServer
) -> None:
    """M6, M2: the same id of somebody else or in another flow is another turn."""
    other = make_flow()
    said = [
        bob.says(flow, "甲", client_turn_id="c-1"),
        bob.says(other, "乙", client_turn_id="c-1"),
        carol.says(flow, "丙", client_turn_id="c-1"),
    ]
    assert [each["output"] for each in said] == ["甲", "乙", "丙"]
    assert len({each["turn_id"] for each in said}) == len({each["session_id"] for each in said}) == 3


def test_twenty_repeats_at_once_are_one_turn(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M6, M7: a double click, a retry and a second tab."""
    api = bob.api
    starts = at_once(lambda _: execute(api, flow, input="在吗", client_turn_id="c-1"), 20)
    answers = [start.result() for start in starts]
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["turn_id"] for answer in answers}) == 1
    assert len(model.chats) == Turn.objects.count() == Conversation.objects.count() == 1


def test_a_client_that_leaves_leaves_its_answer_behind(
    bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """S3: the run belongs to the server; a later repeat collects it."""
    model.enqueue(Answer(["你", "好"], hold=gate, hold_after=1))
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input="在吗", client_turn_id="c-1")
        socket.until("delta")
    gate.set()
    assert execute(bob.api, flow, input="在吗", client_turn_id="c-1").json()["output"] == "你好"
    assert not model.closed_early


@pytest.mark.django_db
def test_the_database_itself_holds_one_running_turn_a_session() -> None:
    """M7: a partial unique index stands behind the check."""
    turn = TurnFactory(status="running")
    with pytest.raises(Exception, match="turn_one_running_per_session"):
        Turn.objects.create(
            id=uuid.uuid4(), conversation=turn.conversation, user=turn.user, flow_id=1, seq=9, input="x"
        )
