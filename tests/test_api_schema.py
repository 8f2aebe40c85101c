"""The outside of the API: its description, the shape of lists, times and errors, and what it refuses (O4)."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from django.core.management import call_command
from rest_framework.throttling import SimpleRateThrottle

from flows import runner
from flows.models import Flow
from tests.doubles import ModelServer
from tests.factories import ConversationFactory, TurnFactory
from tests.memory.addresses import routes
from tests.people import Person

SCHEMA_ITSELF = {"api/schema", "api/docs"}


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The OpenAPI document; making it fails on any warning or mistake."""
    file: Path = tmp_path_factory.mktemp("schema") / "schema.yaml"
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(file))
    return dict(yaml.safe_load(file.read_text()))


def operations(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield f"{method} {path}", operation


def test_the_schema_describes_every_address(schema: dict[str, Any]) -> None:
    """O4."""
    addresses = {route for route in routes() if route.startswith("api/")} - SCHEMA_ITSELF
    described = {re.sub("{.+?}", "<id>", path) for path in schema["paths"]}
    assert described == {"/" + re.sub("<.+?>", "<id>", address) for address in addresses}


def test_every_operation_says_what_it_does_and_gives(schema: dict[str, Any]) -> None:
    """O4: a sentence, and a successful response with its content or none."""
    for name, operation in operations(schema):
        assert operation.get("description") or operation.get("summary"), name
        done = [response for code, response in operation["responses"].items() if code.startswith("2")]
        assert done, name
        assert "204" in operation["responses"] or all(response["content"] for response in done), name
    names = [operation["operationId"] for _, operation in operations(schema)]
    assert len(names) == len(set(names))


def test_every_operation_lists_its_errors(schema: dict[str, Any]) -> None:
    """O4: all of one shape; turns say besides what they may be refused or fail with."""
    listed = {name: set(operation["responses"]) for name, operation in operations(schema)}
    for name, codes in listed.items():
        wanted = {"400", "401", "406", "415", "429", "503"} | ({"404"} if "{" in name or "erase" in name else set())
        assert wanted <= codes, name
    assert {"409", "413", "502", "504"} <= listed["post /api/flows/{flow_id}/execute"]
    assert "409" in listed["post /api/flows/{flow_id}/stream"] & listed["post /api/turns/{turn_id}/regenerate"]
    for name, operation in operations(schema):
        for code, response in operation["responses"].items():
            bodies = [media["schema"] for media in response.get("content", {}).values()]
            assert code < "400" or bodies[0] == {"$ref": "#/components/schemas/Error"}, (name, code)


def test_everything_but_the_login_asks_for_one(schema: dict[str, Any]) -> None:
    """O4."""
    open_to_all = [name for name, operation in operations(schema) if not any(operation.get("security", [{}]))]
    assert open_to_all == ["post /api/auth/login"]


def test_the_schema_and_its_pages_are_served(bob: Person) -> None:
    """O4: to people who are logged in."""
    assert bob.api.get("/api/schema").text.startswith("openapi: 3.")
    assert "swagger" in bob.api.get("/api/docs", headers={"Accept": "text/html"}).text
    assert httpx2.get(f"{bob.address}/api/schema").status_code == 401


def texts(data: Any) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, list):
        for value in data:
            yield from texts(value)
    if isinstance(data, str):
        yield data


def test_every_time_is_utc_with_z(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M5, O4."""
    session = bob.says(flow, "你好")["session_id"]
    address = f"/api/memory/sessions/{session}"
    found = [
        *texts(bob.api.get("/api/memory/sessions").json()),
        *texts(bob.api.get(address).json()),
        *texts(bob.api.get(f"{address}/export", params={"as": "json"}).json()),
        *texts(bob.api.post(f"{address}/share").json()),
        *texts(bob.api.post("/api/auth/login", json={"username": "bob", "password": "tacit-demo"}).json()),
    ]
    times = [text for text in found if re.match(r"\d{4}-\d\d-\d\d", text)]
    assert len(times) >= 8
    assert [text for text in times if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", text)] == []


def test_lists_come_in_pages_that_repeat_nothing(bob: Person, flow: Flow) -> None:
    """O4: `{next, previous, results}`, newest first, forwards and back."""
    made = [ConversationFactory(user=bob.user, flow_id=flow.pk) for _ in range(5)]
    page = bob.api.get("/api/memory/sessions", params={"limit": 2}).json()
    assert set(page) == {"next", "previous", "results"}
    assert page["previous"] is None
    first, seen = page["results"], [*page["results"]]
    while page["next"]:
        back, page = page, bob.api.get(page["next"]).json()
        seen += page["results"]
    assert [row["session_id"] for row in seen] == [str(session.pk) for session in reversed(made)]
    assert bob.api.get(back["previous"]).json()["results"] == first
    assert set(bob.api.get("/api/flows").json()) == {"next", "previous", "results"}


def test_messages_come_in_pages_that_repeat_nothing(bob: Person, flow: Flow) -> None:
    """M5: oldest first."""
    session = ConversationFactory(user=bob.user, flow_id=flow.pk)
    TurnFactory.create_batch(5, conversation=session)
    page = bob.api.get(f"/api/memory/sessions/{session.pk}", params={"limit": 4}).json()
    messages = page["messages"]
    while page["next"]:
        page = bob.api.get(page["next"]).json()
        messages += page["messages"]
    assert [m["content"] for m in messages] == [text for n in range(1, 6) for text in (f"Q{n}", f"A{n}")]


def test_an_unknown_filter_is_refused(bob: Person, flow: Flow) -> None:
    """M2: dropped in silence it would show more than was asked for."""
    session = ConversationFactory(user=bob.user, flow_id=flow.pk)
    addresses = ("/api/memory/sessions", f"/api/memory/sessions/{session.pk}", "/api/flows")
    for address in (*addresses, f"/api/memory/sessions/{session.pk}/export"):
        refused = bob.api.get(address, params={"user_id": "1"})
        assert (refused.status_code, refused.json()["errors"][0]["attr"]) == (400, "user_id"), address


def test_an_unknown_field_is_refused_and_changes_nothing(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M2, M11: the user never comes from a body, and a misspelt switch is not passed over."""
    said = bob.says(flow, "你好")
    session, turn = f"/api/memory/sessions/{said['session_id']}", f"/api/turns/{said['turn_id']}"
    before = bob.api.get(session).json()
    bodies = [
        ("PATCH", session, {"title": "x"}),
        ("PATCH", "/api/memory/settings", {"memory_enabled": False}),
        ("POST", "/api/memory/erase", {"scope": "all"}),
        ("POST", f"/api/flows/{flow.pk}/execute", {"input": "x"}),
        ("POST", f"/api/flows/{flow.pk}/stream", {"input": "x"}),
        ("POST", f"{turn}/feedback", {"rating": "up"}),
        ("POST", "/api/auth/login", {"username": "bob", "password": "tacit-demo"}),
    ]
    for method, address, body in bodies:
        refused = bob.api.request(method, address, json=body | {"user_id": 1})
        assert (refused.status_code, refused.json()["errors"][0]["attr"]) == (400, "user_id"), address
    assert bob.api.get(session).json() == before
    assert bob.api.get("/api/memory/settings").json()["memory_enabled"] is True


def test_a_request_without_a_body_takes_no_field(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M2: as its neighbours do, and nothing happens."""
    said = bob.says(flow, "你好")
    session, turn = f"/api/memory/sessions/{said['session_id']}", f"/api/turns/{said['turn_id']}"
    favourite = f"/api/flows/{flow.pk}/favourite"
    requests = [
        *(("POST", f"{turn}/stop"), ("POST", f"{turn}/regenerate"), ("PUT", favourite), ("DELETE", favourite)),
        *(("POST", f"{session}/share"), ("DELETE", f"{session}/share"), ("DELETE", session)),
        ("POST", "/api/auth/logout"),
    ]
    for method, address in requests:
        refused = bob.api.request(method, address, json={"user_id": 1})
        assert (refused.status_code, refused.json()["errors"][0]["attr"]) == (400, "user_id"), (method, address)
    assert bob.api.get(session).json()["message_count"] == 2
    for method, address in requests:
        assert bob.api.request(method, address).status_code in (200, 202, 204), (method, address)


@pytest.mark.parametrize("limit", ["-1", "0", "abc", "1.5", "", "9" * 30])
def test_a_limit_that_is_no_number_of_rows_is_refused(bob: Person, flow: Flow, limit: str) -> None:
    """O4: in words that say what is wanted."""
    session = ConversationFactory(user=bob.user, flow_id=flow.pk)
    for address in ("/api/memory/sessions", "/api/flows", f"/api/memory/sessions/{session.pk}"):
        refused = bob.api.get(address, params={"limit": limit}, headers={"Accept-Language": "zh-hans"})
        error = refused.json()["errors"][0]
        assert (refused.status_code, error["attr"]) == (400, "limit"), address
        assert error["detail"] == "请用不小于 1 的整数。"


def test_a_format_that_is_asked_for_in_the_query_is_an_unknown_parameter(bob: Person, flow: Flow) -> None:
    """O4: not an address that leads nowhere."""
    session = ConversationFactory(user=bob.user, flow_id=flow.pk)
    refused = bob.api.get(f"/api/memory/sessions/{session.pk}/export", params={"format": "pdf"})
    assert (refused.status_code, refused.json()["errors"][0]["attr"]) == (400, "format")


def test_a_title_is_one_line(bob: Person, flow: Flow) -> None:
    """S8: it stands in lists, file names and headers."""
    session = ConversationFactory(user=bob.user, flow_id=flow.pk)
    address = f"/api/memory/sessions/{session.pk}"
    renamed = bob.api.patch(address, json={"title": "北斗\r\nSet-Cookie: a\x1b[31m\u2028项目 👩‍👩‍👧\t"})
    assert renamed.json()["title"] == "北斗 Set-Cookie: a [31m 项目 👩‍👩‍👧"
    assert bob.api.patch(address, json={"title": "\r\n\x7f"}).status_code == 400


def test_a_server_that_stops_says_when_to_come_back(
    bob: Person, flow: Flow, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S4: 503 with Retry-After."""
    monkeypatch.setattr(runner.current(), "accepting", False)
    refused = bob.api.post(f"/api/flows/{flow.pk}/execute", json={"input": "你好"})
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert refused.json()["errors"][0]["code"] == "server_stopping"


def test_every_error_has_the_same_shape(bob: Person, flow: Flow) -> None:
    """O4: `{type, errors: [{code, detail, attr}]}`, with a real status."""
    address = f"/api/flows/{flow.pk}/execute"
    errors = {
        404: bob.api.get("/api/nothing/here"),
        405: bob.api.get(address),
        415: bob.api.post(address, content="x", headers={"Content-Type": "text/plain"}),
        400: bob.api.post(address, json={}),
        401: httpx2.get(f"{bob.address}/api/flows"),
    }
    for status, response in errors.items():
        assert response.status_code == status
        assert set(response.json()) == {"type", "errors"}
        assert set(response.json()["errors"][0]) == {"code", "detail", "attr"}


def test_too_fast_is_429_with_the_seconds_to_wait(
    bob: Person, flow: Flow, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O4: turns have a rate of their own."""
    rates = SimpleRateThrottle.THROTTLE_RATES | {"turns": "2/min"}
    monkeypatch.setattr(SimpleRateThrottle, "THROTTLE_RATES", rates)
    for _ in range(2):
        bob.says(flow, "你好")
    refused = bob.api.post(f"/api/flows/{flow.pk}/execute", json={"input": "你好"})
    assert refused.status_code == 429
    assert 0 < int(refused.headers["Retry-After"]) <= 60
    assert bob.api.get("/api/flows").status_code == 200
