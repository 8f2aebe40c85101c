"""Clear memory: final, whole, and only what was asked for (M10, L15)."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from config.local_redis import LocalRedis
from flows.models import Flow
from memory import window
from memory.models import Conversation, Erasure, MemoryOwner, Turn
from memory.tasks import drain_erasures
from tests.doubles import Answer, ModelServer
from tests.factories import make_flow
from tests.memory.hot_copy import memory_keys, redis, said_to
from tests.memory.traces import content, in_redis, in_tables
from tests.people import Person
from tests.waiting import eventually

CANARY = "金丝雀-7K3P"


def erase(person: Person, scope: str, **ids: Any) -> dict[str, Any]:
    response = person.api.post("/api/memory/erase", json={"scope": scope, **ids})
    assert response.status_code == 200, response.text
    return dict(response.json())


def state() -> tuple[Any, ...]:
    """Every row and every hot copy that holds what was said."""
    rows = [list(table.objects.order_by("pk").values()) for table in (Conversation, Turn)]
    return *rows, {key: content(key) for key in redis().keys("mem:*")}


def traces(word: str) -> list[str]:
    """Where a word still stands: tables of the database and keys of Redis."""
    return [*sorted({place.split(".")[0] for place in in_tables(word)}), *sorted(in_redis(word))]


@pytest.fixture
def said(bob: Person, carol: Person, flow: Flow, model: ModelServer) -> dict[str, Any]:
    """Bob has two sessions in one flow and one in another; Carol has one in each."""
    other = make_flow()
    first = bob.says(flow, f"{CANARY} 一")["session_id"]
    bob.says(flow, f"{CANARY} 二", session_id=first)
    for person, where in ((bob, flow), (bob, other), (carol, flow), (carol, other)):
        person.says(where, f"{person.user.username} 说的")
    return {"session": first, "flow": flow.pk, "other": other.pk}


def test_erasing_a_session_takes_it_away_everywhere(bob: Person, said: dict[str, Any]) -> None:
    """M10, L15: the report counts, the address is 404, and no table and no key holds a word of it."""
    Conversation.objects.filter(pk=said["session"]).update(summary=f"{CANARY} 的摘要")
    turn = str(Turn.objects.filter(conversation=said["session"]).latest("seq").pk)
    assert {"memory_turn", window.keys_of(Conversation.objects.get(pk=said["session"])).messages} <= set(traces(CANARY))
    report = erase(bob, "session", session_id=said["session"])
    assert report["removed"] == {"turns": 2, "summaries": 1, "keys": 2, "episodes": 0, "vectors": 0, "graph": 0}
    assert report["pending"] == []
    addresses = [f"/api/memory/sessions/{said['session']}", f"/api/turns/{turn}", f"/api/turns/{turn}/events"]
    assert [bob.api.get(address).status_code for address in addresses] == [404, 404, 404]
    body = {"input": "还记得吗", "session_id": said["session"]}
    assert bob.api.post(f"/api/flows/{said['flow']}/execute", json=body).status_code == 404
    assert traces(CANARY) == []
    left = [key for key in traces(said["session"]) if not key.startswith("tacit:erased:")]
    assert set(left) <= {"profiles_flowuse"}, "how often a flow was used is counted without a word of what was said"


@pytest.mark.parametrize(("scope", "left"), [("session", 2), ("flow", 1), ("all", 0)])
def test_only_what_was_asked_for_goes(bob: Person, carol: Person, said: dict[str, Any], scope: str, left: int) -> None:
    """M10: other users, other flows and other sessions stay, byte for byte."""
    doomed = {"session": {"pk": said["session"]}, "flow": {"flow_id": said["flow"]}, "all": {}}[scope]
    gone = list(Conversation.objects.filter(user=bob.user, **doomed).values_list("pk", flat=True))
    turns = list(Turn.objects.filter(conversation__in=gone).values_list("pk", flat=True))
    sessions, spoken, keys = state()
    erase(bob, scope, **{f"{scope}_id": said[scope]} if scope != "all" else {})
    members = [str(pk).encode() for pk in (*gone, *turns)]
    index = f"mem:{{{bob.user.pk}}}:sessions".encode()
    kept = {key: value for key, value in keys.items() if key != index and not any(m in key for m in members)}
    after = state()
    assert after[0] == [row for row in sessions if row["id"] not in gone]
    assert after[1] == [row for row in spoken if row["conversation_id"] not in gone]
    assert {key: value for key, value in after[2].items() if key != index} == kept
    assert redis().zcard(index) == left
    listed = [len(person.api.get("/api/memory/sessions").json()["results"]) for person in (bob, carol)]
    assert listed == [left, 2]


def test_a_scope_wider_than_what_is_named_erases_nothing(bob: Person, said: dict[str, Any]) -> None:
    """M10: erasing is final, and a program that names one session did not mean all of them."""
    named = {"session_id": said["session"], "flow_id": said["flow"]}
    for scope, narrower in (("flow", ["session_id"]), ("all", ["session_id", "flow_id"])):
        refused = bob.api.post("/api/memory/erase", json={"scope": scope, **named})
        assert refused.status_code == 400
        assert sorted(error["attr"] for error in refused.json()["errors"]) == sorted(narrower)
    assert bob.api.get(f"/api/memory/sessions/{said['session']}").status_code == 200


def test_erasing_a_flow_or_everything_raises_the_epoch(bob: Person, said: dict[str, Any]) -> None:
    """M10: a job begun before checks it, and stores nothing."""
    epochs = []
    for scope, ids in (("session", {"session_id": said["session"]}), ("flow", {"flow_id": said["flow"]}), ("all", {})):
        erase(bob, scope, **ids)
        epochs.append(MemoryOwner.objects.get(user=bob.user).epoch)
    assert epochs == [0, 1, 2]


@pytest.mark.parametrize("scope", ["session", "flow", "all"])
def test_erasing_while_an_answer_is_written_stops_it_for_good(
    bob: Person, flow: Flow, model: ModelServer, gate: threading.Event, scope: str
) -> None:
    """M10: the model's connection is closed, the listener hears one end, and nothing comes back."""
    session = bob.says(flow, f"{CANARY} 一")["session_id"]
    model.enqueue(Answer([f"{CANARY} 半", "句"], hold=gate, hold_after=1))
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input=f"{CANARY} 二", session_id=session)
        socket.until("delta")
        ids = {"session": {"session_id": session}, "flow": {"flow_id": flow.pk}, "all": {}}[scope]
        assert erase(bob, scope, **ids)["removed"]["turns"] == 2
        end = socket.to_end()[-1]
        assert (end["type"], end["code"], end["output"]) == ("turn.stopped", "erased", "")
    assert model.closed_early.wait(20)
    gate.set()
    eventually(lambda: traces(CANARY) == [])
    assert memory_keys() == set()
    assert Turn.objects.count() == Conversation.objects.count() == 0


def test_a_session_can_be_begun_anew_after_everything_was_erased(
    bob: Person, flow: Flow, model: ModelServer, said: dict[str, Any]
) -> None:
    """M10: and it knows nothing."""
    erase(bob, "all")
    session = bob.says(flow, "你好")["session_id"]
    assert said_to(model) == ["user: 你好"]
    assert [row["session_id"] for row in bob.api.get("/api/memory/sessions").json()["results"]] == [session]


def test_erasing_twice_removes_nothing_more(bob: Person, said: dict[str, Any]) -> None:
    assert erase(bob, "all")["removed"]["turns"] == 4
    assert set(erase(bob, "all")["removed"].values()) == {0}


@pytest.fixture
def own_redis(tmp_path: Path, settings: Any) -> Iterator[LocalRedis]:
    """The hot copy is on a server that can be stopped."""
    (tmp_path / "records").mkdir()
    server = LocalRedis(tmp_path / "redis", records=tmp_path / "records")
    server.start()
    settings.CACHES = settings.CACHES | {"memory": settings.CACHES["memory"] | {"LOCATION": server.url}}
    yield server
    server.stop()
    window.breaker.succeeded()


@pytest.mark.own_servers
def test_erasing_while_redis_is_away_is_made_up_for_later(
    bob: Person, flow: Flow, model: ModelServer, own_redis: LocalRedis
) -> None:
    """M10: the report says `pending`, and beat drains it; the session is 404 from the first moment on."""
    session = bob.says(flow, CANARY)["session_id"]
    own_redis.stop()
    report = erase(bob, "session", session_id=session)
    assert (report["pending"], report["removed"]["turns"]) == (["redis"], 1)
    assert bob.api.get(f"/api/memory/sessions/{session}").status_code == 404
    drain_erasures()
    assert Erasure.objects.count() == 1
    own_redis.start()
    assert len(memory_keys()) == 3, "the server kept the copy over its restart"
    eventually(lambda: drain_erasures() or not Erasure.objects.exists())
    assert not [key for key in memory_keys() if session in key]
    assert redis().zcard(f"mem:{{{bob.user.pk}}}:sessions") == 0
