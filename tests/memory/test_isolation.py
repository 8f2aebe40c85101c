"""What is Bob's is nobody else's: foreign, missing and malformed ids look the same (M2, O4)."""

import json
import re
import uuid
from typing import Any

import httpx2
import pytest
from django.contrib.auth.models import Group
from django.test import Client

from flows.models import Flow
from memory.models import Conversation, SharedConversation, Turn
from tests.doubles import ModelServer
from tests.factories import make_flow
from tests.memory.addresses import IN_A_FLOW_OF_ONES_OWN, LISTS, WITH_IDS, WITHOUT_IDS, routes
from tests.memory.hot_copy import redis
from tests.people import Person

REQUESTS = [(route, method, body) for route, tries in WITH_IDS.items() for method, body in tries]
REQUESTS += [(route, "POST", body) for route, body in IN_A_FLOW_OF_ONES_OWN]
SESSION_IN_PATH = re.compile("<uuid:session_id>|<session>")
TURN_IN_PATH = re.compile("<uuid:turn_id>|<turn>")


@pytest.fixture
def secret(bob: Person, model: ModelServer) -> dict[str, str]:
    """Ids of Bob's, in a flow that only his group may use."""
    theirs = make_flow(name="内部助手")
    theirs.groups.add(Group.objects.create(name="研发中心"))
    bob.user.groups.add(*theirs.groups.all())
    said = bob.says(theirs, "绝密：收购计划")
    token = bob.api.post(f"/api/memory/sessions/{said['session_id']}/share").json()["url"].rsplit("/", 2)[1]
    return {"flow": str(theirs.pk), "session": said["session_id"], "turn": said["turn_id"], "token": token}


def missing() -> dict[str, str]:
    """Ids of nothing at all."""
    return {"flow": "987654", "session": str(uuid.uuid4()), "turn": str(uuid.uuid4()), "token": "x" * 22}


def filled(template: str, ids: dict[str, str], own_flow: Flow) -> str:
    """The address or body with ids in place of its names."""
    text = SESSION_IN_PATH.sub(ids["session"], template)
    text = TURN_IN_PATH.sub(ids["turn"], text).replace("<str:token>", ids["token"])
    return (
        text.replace("<own flow>", str(own_flow.pk))
        .replace("<int:flow_id>", ids["flow"])
        .replace("<int:pk>", ids["flow"])
    )


def browser(person: Person) -> httpx2.Client:
    """The person's browser, logged in."""
    client = Client()
    client.force_login(person.user)
    return httpx2.Client(base_url=person.address, cookies={"sessionid": client.cookies["sessionid"].value})


def ask(person: Person, request: tuple[str, str, Any], ids: dict[str, str], own_flow: Flow) -> httpx2.Response:
    route, method, body = request
    client = person.api if route.startswith("api/") else browser(person)
    content = json.loads(filled(json.dumps(body), ids, own_flow)) if body else None
    return client.request(method, f"/{filled(route, ids, own_flow)}", json=content)


def essence(response: httpx2.Response) -> tuple[int, str]:
    """Status and body, without what differs from one rendering of a page to the next."""
    return response.status_code, re.sub(r'nonce="[^"]+"|value="\w{64}"|content="\w{64}"', "", response.text)


def everything() -> list[Any]:
    """All rows and keys that hold conversations."""
    tables = [Conversation, Turn, SharedConversation]
    keys = {key: redis().dump(key) for key in redis().keys("mem:*")}
    return [list(table.objects.order_by("pk").values()) for table in tables] + [keys]


def test_every_address_has_its_case() -> None:
    """M2: a new address comes with what a stranger gets from it."""
    assert routes() == set(WITH_IDS) | LISTS | WITHOUT_IDS


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: f"{request[1]} {request[0]}")
def test_a_foreign_id_looks_like_a_missing_one(
    carol: Person, secret: dict[str, str], flow: Flow, request_: tuple[str, str, Any]
) -> None:
    """M2: the same 404 with the same body, and nothing of Bob's is changed."""
    before = everything()
    foreign, absent = (ask(carol, request_, ids, flow) for ids in (secret, missing()))
    if request_[0] == "shared/<str:token>/":
        assert foreign.status_code == 200  # the link is the permission; a wrong one is 404
    else:
        assert essence(foreign) == essence(absent)
        assert "绝密" not in foreign.text
    assert absent.status_code == 404
    if request_[0].startswith("api/"):
        assert absent.json()["errors"][0]["code"] == "not_found"
    assert everything() == before


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda request: f"{request[1]} {request[0]}")
def test_nobody_gets_anything_without_a_login(
    live: str, secret: dict[str, str], flow: Flow, request_: tuple[str, str, Any]
) -> None:
    """O4: 401 from the API, the login page from a page."""
    route, method, body = request_
    before = everything()
    content = json.loads(filled(json.dumps(body), secret, flow)) if body else None
    response = httpx2.request(method, f"{live}/{filled(route, secret, flow)}", json=content)
    if route.startswith("api/"):
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"] == "Token"
    else:
        assert response.headers["Location"].startswith("/accounts/login/")
    assert everything() == before


@pytest.mark.parametrize("route", sorted(LISTS))
def test_a_list_shows_only_ones_own(carol: Person, secret: dict[str, str], flow: Flow, route: str) -> None:
    """M2, F7: neither Bob's conversations nor the flow that Carol may not use."""
    shown = (carol.api if route.startswith("api/") else browser(carol)).get(f"/{route}", params={})
    assert shown.status_code == 200
    assert "绝密" not in shown.text
    assert "内部助手" not in shown.text
    assert secret["session"] not in shown.text


def test_a_search_finds_only_ones_own(carol: Person, bob: Person, secret: dict[str, str]) -> None:
    """M2."""
    found = [person.api.get("/api/memory/sessions", params={"q": "收购"}).json()["results"] for person in (carol, bob)]
    assert [len(results) for results in found] == [0, 1]


def test_a_session_belongs_to_its_flow(bob: Person, flow: Flow, secret: dict[str, str]) -> None:
    """M2: even for its owner, and even where the two flows are at different versions."""
    for _ in range(2):
        Flow.objects.get(pk=secret["flow"]).publish(flow.versions.get().definition)
    later = bob.says(Flow.objects.get(pk=secret["flow"]), "新版本的会话")["session_id"]
    for session in (secret["session"], later):
        response = bob.api.post(f"/api/flows/{flow.pk}/execute", json={"input": "x", "session_id": session})
        assert (response.status_code, response.json()["errors"][0]["code"]) == (404, "not_found")
        assert browser(bob).get(f"/flows/{flow.pk}/{session}/").status_code == 404
        body = {"scope": "session", "session_id": session, "flow_id": flow.pk}
        assert bob.api.post("/api/memory/erase", json=body).status_code == 404
    assert Conversation.objects.count() == 2


def test_who_leaves_the_group_keeps_what_was_said_but_talks_no_more(bob: Person, secret: dict[str, str]) -> None:
    """F7, M10: and can still erase it."""
    bob.user.groups.clear()
    session = secret["session"]
    body = {"input": "x", "session_id": session}
    assert bob.api.post(f"/api/flows/{secret['flow']}/execute", json=body).status_code == 404
    assert bob.api.post(f"/api/turns/{secret['turn']}/regenerate").status_code == 404
    assert bob.api.get(f"/api/memory/sessions/{session}").status_code == 200
    assert bob.api.delete(f"/api/memory/sessions/{session}").status_code == 204


def test_who_was_deactivated_gets_nothing_with_an_old_login(bob: Person, secret: dict[str, str]) -> None:
    """O4: by key or by cookie."""
    page = browser(bob)
    assert page.get("/api/memory/sessions").status_code == 200
    bob.user.is_active = False
    bob.user.save()
    assert bob.api.get("/api/memory/sessions").status_code == 401
    assert page.get("/api/memory/sessions").status_code == 401
    assert page.get(f"/flows/{secret['flow']}/{secret['session']}/").status_code == 302
