"""S2, S3: whoever listens gets everything, however long the answer, however late or slow the listener."""

import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from socket import SHUT_RDWR
from typing import Any

import pytest
from django.conf import settings

from flows import sockets
from flows.models import Flow
from memory.models import Turn, TurnStatus
from tests.doubles import Answer, ModelServer
from tests.people import Person, sse_events, text_of

LONG = [f"第 {number} 段，**重点**与 `代码`。\n\n" for number in range(6_000)]


def test_an_answer_of_200_kb_arrives_whole_at_a_reader_who_is_slow(bob: Person, flow: Flow, model: ModelServer) -> None:
    model.enqueue(Answer(LONG))
    with bob.socket(flow.pk, max_size=None, max_queue=1) as socket:
        socket.send("turn.start", input="写长一点")
        assert socket.receive()["type"] == "turn.started"
        waiting = threading.Event()
        waiting.wait(1)  # the reader sleeps while the answer is written
        events = socket.to_end()
    assert len("".join(LONG).encode()) > 200_000
    assert text_of(events) == events[-1]["output"] == "".join(LONG)


def test_an_answer_of_one_piece_arrives(bob: Person, flow: Flow, model: ModelServer) -> None:
    model.enqueue(Answer("好。"))
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input="你好")
        assert text_of(socket.to_end()) == "好。"


def test_a_client_that_attaches_after_the_end_gets_the_same_events(bob: Person, flow: Flow, model: ModelServer) -> None:
    model.enqueue(Answer(["一", "二", "三"]))
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input="数")
        first = socket.to_end()
        socket.send("turn.attach", turn_id=first[0]["turn_id"], after=0)
        assert socket.to_end() == first
        socket.send("turn.attach", turn_id=first[0]["turn_id"], after=first[-3]["id"])
        assert socket.to_end() == first[-2:]


def test_a_reload_in_the_middle_loses_not_a_character(bob: Person, flow: Flow, model: ModelServer) -> None:
    go_on = threading.Event()
    model.enqueue(Answer(["一", "二", "三", "四"], hold=go_on, hold_after=2))
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input="数")
        before = socket.until("delta")
        before.append(socket.until("delta")[-1])
    with bob.socket(flow.pk) as socket:
        socket.send("turn.attach", turn_id=before[0]["turn_id"], after=before[-1]["id"])
        go_on.set()
        after = socket.to_end()
    assert text_of(before) + text_of(after) == Turn.objects.get().output == "一二三四"


def test_more_open_streams_than_database_connections_work(bob: Person, flow: Flow, model: ModelServer) -> None:
    count = settings.DATABASE_THREADS + 8
    go_on = threading.Event()
    model.enqueue(*[Answer(["你", "好"], hold=go_on, hold_after=1) for _ in range(count)])

    client = bob.api  # its key is made here: the threads below must leave no database connection behind

    def stream(number: int) -> list[dict[str, Any]]:
        response = client.post(f"/api/flows/{flow.pk}/stream", json={"input": f"第 {number} 个"})
        assert response.status_code == 200, response.text
        return sse_events(response.text)

    with ThreadPoolExecutor(count) as pool:
        streams = [pool.submit(stream, number) for number in range(count)]
        while Turn.objects.filter(status=TurnStatus.RUNNING).count() < count:
            assert not any(done.done() for done in streams), next(done for done in streams if done.done()).result()
        go_on.set()
        assert {text_of(done.result()) for done in streams} == {"你好"}


def test_an_idle_socket_is_kept_alive_by_pings(
    bob: Person, flow: Flow, monkeypatch: pytest.MonkeyPatch, model: ModelServer
) -> None:
    monkeypatch.setattr(sockets, "PING_SECONDS", 0.05)
    with bob.socket(flow.pk) as socket:
        pings = [socket.connection.recv(timeout=20) for _ in range(3)]
        assert pings == ['{"type":"ping"}'] * 3
        socket.send("turn.start", input="还在吗")
        assert socket.to_end()[-1]["type"] == "turn.completed"


def test_a_page_that_vanishes_while_it_is_sent_to_is_no_error(
    bob: Person, flow: Flow, model: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    """S3: its line is cut with hundreds of frames still to come."""
    turn_id = bob.says(flow, "你好")["turn_id"]
    with bob.socket(flow.pk) as socket:
        for _ in range(200):
            socket.send("turn.attach", turn_id=turn_id)
        socket.connection.socket.shutdown(SHUT_RDWR)
    assert bob.says(flow, "还在吗")["output"] == "还在吗"
    gc.collect()
    assert "never retrieved" not in caplog.text
