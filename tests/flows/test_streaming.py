"""The events of a turn: numbered, complete, the same for all who listen, and there to be read again (S2, S3)."""

import threading
from contextlib import ExitStack
from typing import Any
from uuid import UUID

import pytest
from django.conf import settings as product
from django_redis import get_redis_connection

from flows import runner, sockets, stream
from flows.models import Flow
from memory.models import Conversation, TurnStatus
from tests.doubles import Answer, ModelServer
from tests.factories import TurnFactory
from tests.flows.sse import replayed, streaming
from tests.people import ENDS, Person, sse_events, text_of
from tests.waiting import eventually

LIVELY = Answer(["# 计划\n\n", "第一段", "话。\n\n", "```py\nx = 1\n```\n\n", "尾"], reasoning=["想", "一想"])


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


def is_whole(events: list[dict[str, Any]]) -> bool:
    """Numbers from 1 without a gap, one terminal event at the end, the pieces joined are the output."""
    numbered = [event["id"] for event in events] == list(range(1, len(events) + 1))
    ends = [kind in ENDS for kind in kinds(events)]
    return numbered and ends == [False] * (len(events) - 1) + [True] and text_of(events) == events[-1]["output"]


@pytest.fixture
def page(bob: Person, flow: Flow, model: ModelServer) -> list[dict[str, Any]]:
    """What a socket got of a lively answer."""
    model.enqueue(LIVELY)
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input="写个计划")
        return socket.to_end()


def test_a_socket_gets_every_event_numbered_from_one(page: list[dict[str, Any]]) -> None:
    """S2: blocks and the whole HTML included."""
    assert is_whole(page)
    assert page[0]["type"] == "turn.started"
    assert page[-1]["html"] == "".join(event["html"] for event in page if event["type"] == "block")
    assert {
        "turn.started",
        "memory.used",
        "node.started",
        "node.finished",
        "delta",
        "block",
        "reasoning",
        "usage",
    } == set(kinds(page[:-1]))
    assert len({event["turn_id"] for event in page}) == 1


def test_a_program_gets_the_same_without_blocks_and_numbered_from_one_too(
    bob: Person, page: list[dict[str, Any]]
) -> None:
    """S2."""
    plain = replayed(bob, page[0]["turn_id"])
    assert is_whole(plain)
    assert kinds(plain) == [kind for kind in kinds(page) if kind != "block"]
    assert not [event for event in plain if "html" in event]


def test_a_program_that_asks_for_html_gets_what_a_page_gets(bob: Person, page: list[dict[str, Any]]) -> None:
    """S2: `?html=1`."""
    assert replayed(bob, page[0]["turn_id"], html=True) == page


@pytest.mark.parametrize("html", [False, True])
def test_a_listener_that_comes_back_gets_what_it_has_not_seen(
    bob: Person, page: list[dict[str, Any]], html: bool
) -> None:
    """S3: after any number; one who has seen all still hears the end."""
    turn_id = page[0]["turn_id"]
    whole = replayed(bob, turn_id, html=html)
    for after in range(len(whole)):
        assert replayed(bob, turn_id, html=html, after=after) == whole[after:]
    for after in (len(whole), 10**8):
        assert replayed(bob, turn_id, html=html, after=after) == whole[-1:]


def test_an_odd_last_event_id_means_from_the_start(bob: Person, page: list[dict[str, Any]]) -> None:
    """S3."""
    address = f"/api/turns/{page[0]['turn_id']}/events"
    whole = replayed(bob, page[0]["turn_id"])
    for odd in ("x", "-1", "1.5", "", "9" * 50):
        assert sse_events(bob.api.get(address, headers={"Last-Event-ID": odd}).text) == whole


def test_a_socket_attaches_in_the_middle_and_after_the_end(
    bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """S3: reload, switch of device; from the number last seen."""
    model.enqueue(Answer(["一", "二", "三"], hold=gate, hold_after=2))
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input="数")
        seen = socket.until("delta")
    with bob.socket(flow.pk) as again:
        again.send("turn.attach", turn_id=seen[0]["turn_id"], after=seen[-1]["id"])
        more = again.until("delta")
        gate.set()
        more += again.to_end()
        assert is_whole(seen + more)
        again.send("turn.attach", turn_id=seen[0]["turn_id"])
        assert again.to_end() == seen + more


def test_all_who_listen_get_the_same(bob: Person, flow: Flow, model: ModelServer, gate: threading.Event) -> None:
    """S2: whoever started it."""
    model.enqueue(Answer(["一\n\n", "二\n\n", "三"], hold=gate, hold_after=1))
    with bob.socket(flow.pk) as first, bob.socket(flow.pk) as second:
        first.send("turn.start", input="数")
        started = first.receive()
        second.send("turn.attach", turn_id=started["turn_id"])
        with streaming(bob, "GET", f"/api/turns/{started['turn_id']}/events", params={"html": "1"}) as third:
            gate.set()
            assert [started, *first.to_end()] == second.to_end() == third.to_end()


def test_an_event_stream_is_held_up_by_no_proxy(bob: Person, flow: Flow, model: ModelServer) -> None:
    """S2: its headers, and its frames' `id:` and `event:`, which the reader checks."""
    headers = {"Accept": "text/event-stream"}
    with streaming(bob, "POST", f"/api/flows/{flow.pk}/stream", json={"input": "你好"}, headers=headers) as opened:
        found = opened.response.headers
        assert found["Content-Type"] == "text/event-stream; charset=utf-8"
        assert found["Cache-Control"] == "no-cache, no-transform"
        assert (found["Content-Encoding"], found["X-Accel-Buffering"]) == ("identity", "no")
        assert is_whole(opened.to_end())


def test_an_event_stream_comes_piece_by_piece(
    bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """S2: the first piece is here while the model still holds back the second."""
    model.enqueue(Answer(["一", "二"], hold=gate, hold_after=1))
    with streaming(bob, "POST", f"/api/flows/{flow.pk}/stream", json={"input": "数"}) as opened:
        assert opened.until("delta")[-1]["text"] == "一"
        gate.set()
        assert opened.to_end()[-1]["output"] == "一二"


def test_a_stream_that_is_refused_is_plain_json(bob: Person, flow: Flow) -> None:
    """S2: a real status instead of an event."""
    for accept in ("text/event-stream", "application/json", "*/*"):
        refused = bob.api.post(f"/api/flows/{flow.pk}/stream", json={"input": " "}, headers={"Accept": accept})
        assert (refused.status_code, refused.json()["errors"][0]["attr"]) == (400, "input")


ENDINGS = {
    TurnStatus.COMPLETE: "turn.completed",
    TurnStatus.STOPPED: "turn.stopped",
    TurnStatus.FAILED: "turn.failed",
    TurnStatus.INTERRUPTED: "turn.interrupted",
    TurnStatus.SUPERSEDED: "turn.completed",
}


@pytest.mark.parametrize("output", ["", "**答**案"], ids=["empty", "with text"])
@pytest.mark.parametrize("status", ENDINGS)
def test_an_old_turn_is_told_from_what_postgresql_holds(
    bob: Person, flow: Flow, status: TurnStatus, output: str
) -> None:
    """S2: long after its stream has expired."""
    session = Conversation.objects.create(user=bob.user, flow_id=flow.pk, flow_name=flow.name, flow_version=1)
    turn = TurnFactory(conversation=session, status=status, output=output, error_code="model_timeout")
    events = replayed(bob, turn.pk, html=True)
    assert is_whole(events)
    assert kinds(events) == ["turn.started", *(["delta"] if output else []), ENDINGS[status]]
    assert (events[0]["session_id"], events[0]["seq"]) == (str(session.pk), 1)
    assert ("code" in events[-1]) is (status is TurnStatus.FAILED)
    assert ("<strong>" in events[-1]["html"]) is bool(output)


def test_a_turn_of_another_process_is_told_by_its_stream(bob: Person, page: list[dict[str, Any]]) -> None:
    """S2: event for event; what the stream lacks, or all of it, by PostgreSQL."""
    turn_id = page[0]["turn_id"]
    key = f"tacit:events:{turn_id}"
    eventually(lambda: get_redis_connection("default").xlen(key) == len(page))
    runner.current()._logs.pop(UUID(turn_id))  # as if the turn had run elsewhere
    assert replayed(bob, turn_id, html=True) == page
    get_redis_connection("default").xdel(key, "0-5")  # a hole, as Redis leaves one that was away for a moment
    mended = replayed(bob, turn_id, html=True)
    assert is_whole(mended)
    assert (mended[:4], mended[-1]["output"]) == (page[:4], page[-1]["output"])
    get_redis_connection("default").delete(key)
    from_row = replayed(bob, turn_id, html=True)
    assert is_whole(from_row)
    assert (kinds(from_row), from_row[-1]["output"]) == (
        ["turn.started", "delta", "turn.completed"],
        page[-1]["output"],
    )


def test_more_listeners_are_there_than_database_connections(
    bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """S2: a listener holds none, so that everybody else is served."""
    model.enqueue(Answer(["一", "二"], hold=gate, hold_after=1))
    with ExitStack() as opened:
        first = opened.enter_context(streaming(bob, "POST", f"/api/flows/{flow.pk}/stream", json={"input": "数"}))
        begun = first.until("delta")
        address = f"/api/turns/{begun[0]['turn_id']}/events"
        others = []
        for _ in range(product.DATABASE_THREADS + 4):
            others.append(opened.enter_context(streaming(bob, "GET", address)))
            assert others[-1].until("delta") == begun
        assert bob.api.get("/api/memory/sessions").status_code == 200
        gate.set()
        rest = first.to_end()
        assert is_whole(begun + rest)
        assert all(other.to_end() == rest for other in others)


def test_silence_is_broken_by_pings_without_a_number(
    bob: Person, flow: Flow, model: ModelServer, gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S2: on sockets and streams, also while a model thinks."""
    monkeypatch.setattr(sockets, "PING_SECONDS", 0.05)
    monkeypatch.setattr(stream, "PING_SECONDS", 0.05)
    model.default = lambda _: Answer("好", hold=gate)
    with bob.socket(flow.pk) as socket:
        assert socket.connection.recv(timeout=20) == '{"type":"ping"}'
    with streaming(bob, "POST", f"/api/flows/{flow.pk}/stream", json={"input": "在吗"}) as opened:
        frames = [opened.frame()]
        while frames[-1]["event"] != "ping":
            frames.append(opened.frame())
        assert frames[-1] == {"event": "ping", "data": '{"type":"ping"}'}
        gate.set()
        assert opened.to_end()[-1]["type"] == "turn.completed"
