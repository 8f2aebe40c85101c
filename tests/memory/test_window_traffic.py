"""What the hot copy costs, and what happens when its server is away (M4, M3). On a Redis of our own."""

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from config.local_redis import LocalRedis
from flows.models import Flow
from memory import window
from tests.doubles import Answer, ModelServer
from tests.memory.hot_copy import items, memory_keys, redis, said_to
from tests.memory.tap import Tap, monitored
from tests.people import Person
from tests.waiting import eventually

pytestmark = pytest.mark.own_servers
FORBIDDEN = {"KEYS", "SCAN", "SSCAN", "HSCAN", "ZSCAN", "FLUSHDB", "FLUSHALL"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LocalRedis]:
    records = tmp_path / "records"
    records.mkdir()
    server = LocalRedis(tmp_path / "redis", records=records, throwaway=True)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def tap(server: LocalRedis, settings: Any) -> Iterator[Tap]:
    """The hot copy is on that server, and every round trip to it goes through here."""
    tap = Tap(server.url)
    use(tap.url, settings)
    yield tap
    tap.close()
    window.breaker.succeeded()


def use(url: str, settings: Any) -> None:
    settings.CACHES = settings.CACHES | {"memory": settings.CACHES["memory"] | {"LOCATION": url}}


def test_a_turn_costs_one_round_trip_to_read_and_one_to_write(
    bob: Person, flow: Flow, model: ModelServer, tap: Tap, server: LocalRedis
) -> None:
    """M4: on an open connection whose server knows the script."""
    session = bob.says(flow, "一")["session_id"]
    bob.says(flow, "二", session_id=session)
    before = tap.round_trips
    with monitored(server.url) as commands:
        bob.says(flow, "三", session_id=session)
    assert tap.round_trips - before == 2
    assert commands[:3] == ["LRANGE", "HMGET", "EVALSHA"]  # and GET where there is a summary


def test_a_lost_copy_costs_one_round_trip_more(bob: Person, flow: Flow, model: ModelServer, tap: Tap) -> None:
    """M4: one Lua call builds it again."""
    session = bob.says(flow, "一")["session_id"]
    redis().flushdb()
    bob.says(flow, "二", session_id=session)
    redis().flushdb()
    before = tap.round_trips
    bob.says(flow, "三", session_id=session)
    assert tap.round_trips - before == 3


def test_no_request_ever_walks_over_all_keys(
    bob: Person, flow: Flow, model: ModelServer, tap: Tap, server: LocalRedis
) -> None:
    """M4: chatting, listing, reading, changing and erasing."""
    with monitored(server.url) as commands:
        session = bob.says(flow, "一")["session_id"]
        address = f"/api/memory/sessions/{session}"
        turn = bob.says(flow, "二", session_id=session)["turn_id"]
        calls = [
            bob.api.get("/api/memory/sessions", params={"flow_id": flow.pk, "q": "一"}),
            bob.api.get(address),
            bob.api.patch(address, json={"title": "新"}),
            bob.api.get(f"/api/turns/{turn}/events"),
            bob.api.post("/api/memory/erase", json={"scope": "session", "session_id": session}),
            bob.api.post(f"/api/flows/{flow.pk}/execute", json={"input": "三"}),
            bob.api.post("/api/memory/erase", json={"scope": "flow", "flow_id": flow.pk}),
            bob.api.post("/api/memory/erase", json={"scope": "all"}),
        ]
    assert {call.status_code for call in calls} == {200}
    assert {"LRANGE", "EVALSHA", "DEL", "ZREVRANGE"} <= set(commands)
    assert FORBIDDEN & set(commands) == set()


def test_without_redis_the_chat_goes_on_and_says_so(
    bob: Person, flow: Flow, model: ModelServer, tap: Tap, server: LocalRedis
) -> None:
    """M3: from PostgreSQL, word for word; when Redis is back the copy recovers by itself."""
    model.enqueue(*(Answer(f"A{number}") for number in range(1, 5)))
    session = bob.says(flow, "Q1")["session_id"]
    server.stop()
    without = [bob.says(flow, f"Q{number}", session_id=session) for number in (2, 3)]
    assert [said["memory_used"]["missing"] for said in without] == [["hot_copy"], ["hot_copy"]]
    assert said_to(model) == ["user: Q1", "assistant: A1", "user: Q2", "assistant: A2", "user: Q3"]
    assert [turn["memory_used"]["missing"] for turn in turns(bob, without)] == [["hot_copy"], ["hot_copy"]]
    server.start()
    eventually(lambda: bob.api.get("/api/memory/sessions").is_success and not window.breaker.is_open)
    assert bob.says(flow, "Q4", session_id=session)["memory_used"]["missing"] == []
    assert said_to(model)[::2] == ["user: Q1", "user: Q2", "user: Q3", "user: Q4"]
    assert [item["content"] for item in items(session)][::2] == ["Q1", "Q2", "Q3", "Q4"]


def test_a_redis_that_answers_nothing_does_not_hold_the_chat_up(
    bob: Person, flow: Flow, model: ModelServer, settings: Any
) -> None:
    """M3, L3: a server that hangs is as good as one that is away."""
    session = bob.says(flow, "一")["session_id"]
    silent = socket.create_server(("127.0.0.1", 0))  # takes connections and never says a word
    use(f"redis://127.0.0.1:{silent.getsockname()[1]}/0", settings)
    said = [bob.says(flow, words, session_id=session) for words in ("二", "三", "四")]
    assert {tuple(each["memory_used"]["missing"]) for each in said} == {("hot_copy",)}
    assert said_to(model)[::2] == ["user: 一", "user: 二", "user: 三", "user: 四"]
    silent.close()
    window.breaker.succeeded()


def test_the_list_of_sessions_needs_no_redis(bob: Person, flow: Flow, tap: Tap, server: LocalRedis) -> None:
    session = bob.says(flow, "一")["session_id"]
    server.stop()
    assert [row["session_id"] for row in bob.api.get("/api/memory/sessions").json()["results"]] == [session]


def test_flushing_everything_at_any_moment_loses_nothing(
    bob: Person, flow: Flow, model: ModelServer, tap: Tap, gate: Any
) -> None:
    """M3: between turns, and while an answer is being written."""
    session = bob.says(flow, "一")["session_id"]
    redis().flushall()
    model.enqueue(Answer(["二", "！"], hold=gate, hold_after=1))
    with bob.socket(flow.pk) as chat:
        chat.send("turn.start", input="二", session_id=session)
        chat.until("delta")
        redis().flushall()
        gate.set()
        assert chat.to_end()[-1]["output"] == "二！"
    assert memory_keys() == set()
    bob.says(flow, "三", session_id=session)
    assert said_to(model) == ["user: 一", "assistant: 一", "user: 二", "assistant: 二！", "user: 三"]
    assert len(items(session)) == 6


def turns(person: Person, said: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The turns as they are stored."""
    return [person.api.get(f"/api/turns/{each['turn_id']}").json() for each in said]
