"""Web processes that die, that share their work, and that are asked to go (S2, S3, S4). With real processes."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django_redis import get_redis_connection

from config.local_redis import LocalRedis
from flows.models import Flow
from memory.models import Turn
from tests.doubles import Answer, ModelServer
from tests.flows.sse import replayed, streaming
from tests.flows.test_streaming import is_whole
from tests.flows.web_process import Site
from tests.memory.hot_copy import said_to
from tests.people import Person, add_person
from tests.waiting import eventually

PIECES = ["半", "句", "话。"]


@pytest.fixture
def site(transactional_db: None, tmp_path: Path, model: ModelServer) -> Iterator[Site]:
    site = Site(tmp_path, model)
    yield site
    site.stop()


@pytest.fixture
def held(model: ModelServer) -> Iterator[threading.Event]:
    """Holds the answer back after its first piece."""
    event = threading.Event()
    model.enqueue(Answer(PIECES, hold=event, hold_after=1))
    yield event
    event.set()


def at(person: Person, address: str) -> Person:
    """The same person, at another process."""
    return Person(person.user, address)


def test_a_killed_process_loses_no_word_of_what_was_said(
    site: Site, flow: Flow, model: ModelServer, held: threading.Event
) -> None:
    """S4, M6: interrupted with question and partial text; nothing is doubled, and the conversation goes on."""
    first = site.start()
    bob = add_person("bob", first.address)
    with bob.socket(flow.pk) as mine:
        mine.send("turn.start", input="问", client_turn_id="c-1")
        started, *_ = mine.until("delta")
        stream = f"tacit:events:{started['turn_id']}"
        eventually(lambda: b"delta" in b"".join(fields[b"e"] for _, fields in get_redis_connection().xrange(stream)))
        first.kill()
    elsewhere = at(bob, site.start().address)
    elsewhere.api.patch("/api/memory/settings", json={"portrait_enabled": False})
    events = replayed(elsewhere, started["turn_id"], html=True)
    assert is_whole(events)
    assert (events[-1]["type"], events[-1]["output"]) == ("turn.interrupted", "半")
    turn = Turn.objects.get()
    assert (turn.status, turn.input, turn.output) == ("interrupted", "问", "半")
    again = elsewhere.api.post(f"/api/flows/{flow.pk}/execute", json={"input": "问", "client_turn_id": "c-1"})
    assert (again.status_code, again.json()["turn_id"]) == (503, started["turn_id"])
    said = elsewhere.says(flow, "接着说", session_id=started["session_id"])
    assert said["output"] == "接着说"
    assert said_to(model) == ["user: 问", "assistant: 半", "user: 接着说"]
    assert len(model.chats) == Turn.objects.count() == 2


def test_a_turn_is_followed_and_stopped_from_another_process(
    site: Site, flow: Flow, model: ModelServer, held: threading.Event
) -> None:
    """S3: while it runs, event for event; the stop closes the model's connection."""
    here = add_person("bob", site.start().address)
    there = at(here, site.start().address)
    with here.socket(flow.pk) as mine, there.socket(flow.pk) as other:
        mine.send("turn.start", input="问")
        started, *more = mine.until("delta")
        other.send("turn.attach", turn_id=started["turn_id"])
        seen = other.until("delta")
        assert seen == [started, *more]
        busy = there.api.post(
            f"/api/flows/{flow.pk}/execute", json={"input": "另", "session_id": started["session_id"]}
        )
        assert (busy.status_code, busy.json()["turn_id"]) == (409, started["turn_id"])
        other.send("turn.stop", turn_id=started["turn_id"])
        events, others = [started, *more, *mine.to_end()], [*seen, *other.to_end()]
    assert events == others
    assert is_whole(events)
    assert (events[-1]["type"], events[-1]["output"]) == ("turn.stopped", "半")
    assert model.closed_early.wait(20)


def test_a_process_that_is_asked_to_go_lets_the_answer_end(
    site: Site, flow: Flow, model: ModelServer, held: threading.Event
) -> None:
    """S4: who listens to a stream hears all of it; no new turn is taken."""
    web = site.start(drain=20)
    bob = add_person("bob", web.address)
    with streaming(bob, "POST", f"/api/flows/{flow.pk}/stream", json={"input": "问"}) as opened:
        events = opened.until("delta")
        web.ask_to_stop()
        eventually(lambda: refuses(web.address))
        held.set()
        events += opened.to_end()
    assert is_whole(events)
    web.wait()
    turn = Turn.objects.get()
    assert (turn.status, turn.output) == ("complete", "半句话。")


def test_an_answer_that_outlasts_the_patience_is_kept_as_far_as_it_came(
    site: Site, flow: Flow, model: ModelServer, held: threading.Event
) -> None:
    """S4: committed as interrupted, at once and not by its lease."""
    web = site.start(drain=1)
    bob = add_person("bob", web.address)
    with bob.socket(flow.pk) as mine:
        mine.send("turn.start", input="问")
        mine.until("delta")
        web.ask_to_stop()
        web.wait()
    turn = Turn.objects.get()
    assert (turn.status, turn.output) == ("interrupted", "半")
    assert turn.lease_until
    assert turn.finished_at
    assert turn.finished_at < turn.lease_until


def refuses(address: str) -> bool:
    """Whether nobody listens there any more."""
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", urlsplit(address).port)) != 0


@pytest.fixture
def own_redis(site: Site) -> Iterator[LocalRedis]:
    """A Redis for this site alone, that can be killed."""
    server = LocalRedis(site.folder / "redis", records=site.folder)
    server.start()
    site.redis_url = server.url
    yield server
    server.stop()


@pytest.mark.own_servers
def test_a_killed_redis_costs_no_event_and_no_word(
    site: Site, own_redis: LocalRedis, flow: Flow, model: ModelServer, held: threading.Event
) -> None:
    """S2, M6: whoever started the turn hears all of it at once; who listens elsewhere, when it has ended."""
    here = add_person("bob", site.start().address)
    there = at(here, site.start().address)
    here.api.patch("/api/memory/settings", json={"portrait_enabled": False})
    with here.socket(flow.pk) as mine, there.socket(flow.pk) as other:
        mine.send("turn.start", input="问")
        events = mine.until("delta")
        other.send("turn.attach", turn_id=events[0]["turn_id"])
        others = other.until("delta")
        kill(own_redis)
        held.set()
        events += mine.to_end()
        others += other.to_end()
    assert is_whole(events)
    assert is_whole(others)
    assert events[-1]["output"] == others[-1]["output"] == Turn.objects.get().output == "半句话。"
    session = events[0]["session_id"]
    without = there.says(flow, "没有它", session_id=session)
    own_redis.start()
    with_it = eventually(lambda: recovered(here, flow, session))
    assert (without["memory_used"]["missing"], with_it["memory_used"]["missing"]) == (["hot_copy"], [])
    assert said_to(model)[:4] == ["user: 问", "assistant: 半句话。", "user: 没有它", "assistant: 没有它"]


def kill(server: LocalRedis) -> None:
    """As a machine that fails would."""
    assert server.process
    server.process.popen.kill()
    server.process.popen.wait()


def recovered(person: Person, flow: Flow, session: str) -> dict[str, Any] | None:
    """The answer to one more message, once its memory misses nothing."""
    said = person.says(flow, "又有了", session_id=session)
    return None if said["memory_used"]["missing"] else said
