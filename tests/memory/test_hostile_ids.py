"""Ids that are no ids, in paths, queries, bodies and frames: refused, never a match, never a fault of ours (M2)."""

import base64
import json
import threading
import uuid
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from flows.models import Flow
from memory.models import Conversation, Turn
from memory.remembering import remember
from tests.doubles import Answer, ModelServer
from tests.memory.addresses import WITH_IDS
from tests.memory.hot_copy import memory_keys
from tests.memory.test_isolation import browser, card_of, filled, report_about
from tests.people import Person

REFUSED = {400, 404}
MALFORMED = {
    "everything": "*",
    "with a colon": "a:b",
    "empty": "",
    "a blank": " ",
    "blanks inside": "0b6c 3b8e",
    "emoji": "🦊",
    "NUL": "a\0b",
    "up the tree": "../..",
    "a quote": "' OR 1=1 --",
    "braces": "{7}",
    "10 kB": "a" * 10_240,
    "10 kB of digits": "9" * 10_240,
    "a line end": "a\r\nX: y",
    "beyond a bigint": str(2**64),
    "negative": "-1",
}


@pytest.fixture
def said(bob: Person, flow: Flow, model: ModelServer) -> dict[str, Any]:
    """A turn that no malformed id may find."""
    return bob.says(flow, "你好")


def other_spellings(of: str) -> list[str]:
    """What a lenient parser would take for the same id."""
    return [of.upper(), of.replace("-", ""), f"{{{of}}}", f"urn:uuid:{of}", of.replace("-", "") + "----", f" {of} "]


def unchanged(said: dict[str, Any]) -> bool:
    return Turn.objects.count() == Conversation.objects.count() == 1 and len(memory_keys()) == 3


def test_no_malformed_id_in_an_address_finds_anything(bob: Person, flow: Flow, said: dict[str, Any]) -> None:
    """M2: each name of each address is tried with each of them."""
    page = browser(bob)
    task = bob.api.post("/api/tasks", json={"title": "x"}).json()["id"]
    memory = remember(bob.user, "李娜负责北斗项目。")
    good = {
        "flow_id": str(flow.pk),
        "pk": str(flow.pk),
        "session_id": said["session_id"],
        "turn_id": said["turn_id"],
        "task_id": str(task),
        "episode_id": str(memory.pk),
        "relation_id": str(memory.relations.all()[0].pk),
        "report_id": str(report_about(bob).pk),
        "action_id": str(card_of(said["turn_id"]).pk),
    }
    for route, tries in WITH_IDS.items():
        for name in [name for name in good if f":{name}>" in route]:
            spellings = other_spellings(good[name]) if "uuid" in route and not name.endswith("flow_id") else []
            for value in [*MALFORMED.values(), *spellings]:
                address = filled(route, good | {name: quote(value, safe="")})
                client = bob.api if route.startswith("api/") else page
                response = client.request(tries[0][0], f"/{address}", json=tries[0][1])
                assert response.status_code in REFUSED, (route, value[:40], response.status_code)
    assert unchanged(said)


@pytest.mark.parametrize("field", ["session_id", "edit_of"])
def test_no_malformed_id_in_a_body_finds_anything(bob: Person, flow: Flow, said: dict[str, Any], field: str) -> None:
    """M2: over REST and over a socket alike."""
    own = said["session_id" if field == "session_id" else "turn_id"]
    values = [*MALFORMED.values(), *other_spellings(own), 7, True, [own], {"id": own}, 1.5]
    with bob.socket(flow.pk) as socket:
        for value in values:
            response = bob.api.post(f"/api/flows/{flow.pk}/execute", json={"input": "x", field: value})
            assert response.status_code in REFUSED, value
            socket.send("turn.start", input="x", **{field: value})
            assert socket.receive()["type"] == "error", value
    assert unchanged(said)


def test_no_malformed_id_erases_anything(bob: Person, flow: Flow, said: dict[str, Any]) -> None:
    """M2, M10: `*` above all."""
    sessions = [*MALFORMED.values(), *other_spellings(said["session_id"]), None, 7, []]
    bodies = [{"scope": "session", "session_id": value} for value in sessions]
    bodies += [{"scope": "flow", "flow_id": value} for value in ("*", "", None, "1 OR 1", [], "9" * 10_240)]
    bodies += [{"scope": "session"}, {"scope": "flow"}, {"scope": "*"}, {"scope": ""}, {}, {"scope": "everything"}]
    for body in bodies:
        response = bob.api.post("/api/memory/erase", json=body)
        assert response.status_code in REFUSED, body
    for flow_id in (2**64, -1, 0, 987654):
        response = bob.api.post("/api/memory/erase", json={"scope": "flow", "flow_id": flow_id})
        assert response.status_code == 404, flow_id
    assert unchanged(said)


@pytest.mark.parametrize("kind", ["turn.attach", "turn.stop"])
def test_no_malformed_id_in_a_frame_finds_anything(bob: Person, flow: Flow, said: dict[str, Any], kind: str) -> None:
    """M2."""
    with bob.socket(flow.pk) as socket:
        for value in [*MALFORMED.values(), *other_spellings(said["turn_id"]), None, 7, [], {}, str(uuid.uuid4())]:
            socket.send(kind, turn_id=value)
            frame = socket.receive()
            assert (frame["type"], frame["code"]) == ("error", "not_found"), value
        socket.send(kind)
        assert socket.receive()["code"] == "not_found"
    assert unchanged(said)


def test_a_strangers_frames_find_nothing_and_stop_nothing(
    bob: Person, carol: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """M2: each as a random id would."""
    model.enqueue(Answer(["你", "好"], hold=gate, hold_after=1))
    with bob.socket(flow.pk) as socket, carol.socket(flow.pk) as stranger:
        socket.send("turn.start", input="绝密")
        started, *_ = socket.until("delta")
        for turn_id, session_id in ((started["turn_id"], started["session_id"]), (uuid.uuid4(), uuid.uuid4())):
            for frame in (
                {"kind": "turn.attach", "turn_id": str(turn_id)},
                {"kind": "turn.stop", "turn_id": str(turn_id)},
                {"kind": "action.answer", "action_id": str(turn_id), "accept": True},
                {"kind": "turn.start", "input": "x", "session_id": str(session_id)},
                {"kind": "turn.start", "input": "x", "edit_of": str(turn_id)},
            ):
                stranger.send(**frame)
                refused = stranger.receive()
                assert (refused["type"], refused["code"], set(refused)) == (
                    "error",
                    "not_found",
                    {"type", "code", "detail"},
                )
        gate.set()
        assert socket.to_end()[-1]["type"] == "turn.completed"


QUERIES = [
    *({"cursor": value} for value in ("*", "🦊", "a" * 10_240, base64.b64encode(b"p=abc").decode(), "cD0A")),
    *({"limit": value} for value in ("-1", "0", "x", "9" * 30, "1.5")),
    *({"flow_id": value} for value in ("*", "", "x", "9" * 30, "-1", "1\0")),
    *({"q": value} for value in ("", "%", "_", "\0", "🦊", "a" * 10_240, "'")),
    *({name: value} for name in ("before", "after", "starter", "current", "new") for value in ("x", "9" * 99, "\0")),
    {"nonsense": "1"},
    {"session_id": "x"},
]


PATHS = [
    *("/api/memory/sessions", "/api/memory/sessions/<session_id>", "/api/flows", "/"),
    *("/flows/sessions/", "/flows/<own_flow>/", "/flows/<own_flow>/<session_id>/"),
]


@pytest.mark.parametrize("path", PATHS)
def test_no_query_makes_the_server_fail(bob: Person, flow: Flow, said: dict[str, Any], path: str) -> None:
    """M2: whatever stands behind the question mark."""
    client = bob.api if path.startswith("/api") else browser(bob)
    where = filled(path, {"session_id": said["session_id"], "own_flow": str(flow.pk)})
    failing = [query for query in QUERIES if client.get(where, params=query).status_code >= 500]
    assert failing == []


BODIES = {
    "nothing": b"",
    "no JSON": b"{",
    "no object": b'"x"',
    "a list": b"[]",
    "null": b"null",
    "no UTF-8": b'{"input": "\xff"}',
    "far too deep": b'{"input": ' + b"[" * 100_000,
    "an endless integer": b'{"input": ' + b"9" * 10_000 + b"}",
    "not a number": b'{"input": NaN}',
    "the same twice": b'{"input": "a", "input": null}',
    "inputs that are no texts": b'{"input": "a", "inputs": {"b": []}}',
    "inputs that are no object": b'{"input": "a", "inputs": 7}',
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_no_body_makes_the_server_fail(bob: Person, flow: Flow, model: ModelServer, body: bytes) -> None:
    """O4: 400 and an error frame; the socket stays open."""
    headers = {"Content-Type": "application/json"}
    response = bob.api.post(f"/api/flows/{flow.pk}/execute", content=body, headers=headers)
    assert response.status_code == 400
    assert response.json()["errors"]
    with bob.socket(flow.pk) as socket:
        socket.connection.send(body.replace(b"{", b'{"type": "turn.start", ', 1) if b"{" in body else body)
        assert socket.receive()["type"] == "error"
        socket.send("turn.start", input="还在吗")
        assert socket.to_end()[-1]["type"] == "turn.completed"
    assert json.loads(httpx2.get(f"{bob.address}/healthz").text) == {"status": "ok"}
