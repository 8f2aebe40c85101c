"""What is Bob's is nobody else's: foreign, missing and malformed ids look the same (M2, O4)."""

import json
import re
import uuid
from typing import Any

import httpx2
import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.utils import timezone

from flows.models import Action, Flow
from memory.models import Conversation, Episode, Relation, SharedConversation, Turn
from memory.remembering import remember
from profiles.models import EvaluationReport, WorkTask
from profiles.reports.metrics import NAMES
from tests.doubles import ModelServer
from tests.factories import make_flow
from tests.memory.addresses import FORMS, IN_A_FLOW_OF_ONES_OWN, LISTS, WITH_IDS, WITHOUT_IDS, routes
from tests.memory.hot_copy import redis
from tests.people import Person

REQUESTS = [(route, method, body) for route, tries in WITH_IDS.items() for method, body in tries]
REQUESTS += [(route, "POST", body) for route, body in IN_A_FLOW_OF_ONES_OWN]


@pytest.fixture
def secret(bob: Person, flow: Flow, model: ModelServer) -> dict[str, str]:
    """Ids of Bob's, in a flow that only his group may use."""
    theirs = make_flow(name="内部助手")
    theirs.groups.add(Group.objects.create(name="研发中心"))
    bob.user.groups.add(*theirs.groups.all())
    said = bob.says(theirs, "绝密：收购计划")
    assert bob.api.post(f"/api/memory/sessions/{said['session_id']}/share").status_code == 200
    task = bob.api.post("/api/tasks", json={"title": "绝密：收购计划"}).json()
    memory = remember(bob.user, "绝密：李娜负责北斗项目的收购。")
    of_memory = {"episode_id": str(memory.pk), "relation_id": str(memory.relations.all()[0].pk)}
    report = report_about(bob)
    named = ids(theirs.pk, said["session_id"], said["turn_id"], own_flow=flow.pk)
    of_work = {"task_id": str(task["id"]), "report_id": str(report.pk), "action_id": str(card_of(said["turn_id"]).pk)}
    return named | of_memory | of_work | {"user_id": str(bob.user.pk)}


def card_of(turn_id: str) -> Action:
    """A card that the turn waits with."""
    turn = Turn.objects.get(pk=turn_id)
    state = {"node_id": "start", "values": {}, "branches": {}}
    action = Action.objects.create(user=turn.user, turn=turn, kind="x", card={"title": "绝密：收购计划"}, state=state)
    Turn.objects.filter(pk=turn_id).update(waiting=action.pk)
    return action


def report_about(person: Person) -> EvaluationReport:
    """A report that was shared with the person."""
    now, day = timezone.now(), timezone.localdate()
    given = {
        "state": "shared",
        "signed_at": now,
        "shared_at": now,
        "narrative": [{"text": "绝密：收购计划", "refs": []}],
    }
    counted = {"context": {"flows": [], "work_given": 0}, "enough_data": True, "zone": "Asia/Shanghai"}
    metrics = counted | dict.fromkeys(NAMES) | {"sample_sizes": dict.fromkeys(NAMES, 0)}
    done = {"status": "ready", "progress": 100, "metrics": metrics}
    return EvaluationReport.objects.create(subject=person.user, period_start=day, period_end=day, **done, **given)


def ids(flow: object, session: object, turn: object, *, own_flow: object) -> dict[str, str]:
    """What stands for each name in an address or body."""
    named = {"flow_id": flow, "pk": flow, "session_id": session, "turn_id": turn, "own_flow": own_flow}
    return {name: str(value) for name, value in named.items()}


def filled(template: str, values: dict[str, str]) -> str:
    """The address or body with ids in place of `<name>` and `<type:name>`."""
    return re.sub(r"<(?:\w+:)?(\w+)>", lambda name: values[name[1]], template)


def browser(person: Person) -> httpx2.Client:
    """The person's browser, logged in."""
    client = Client()
    client.force_login(person.user)
    return httpx2.Client(base_url=person.address, cookies={"sessionid": client.cookies["sessionid"].value})


def ask(client: httpx2.Client, request: tuple[str, str, Any], values: dict[str, str]) -> httpx2.Response:
    route, method, body = request
    content = json.loads(filled(json.dumps(body), values)) if body else None
    return client.request(method, f"/{filled(route, values)}", json=content)


def essence(response: httpx2.Response) -> tuple[int, str]:
    """Status and body, without what differs from one rendering of a page to the next, and without its address."""
    text = re.sub(r'nonce="[^"]+"|(value|content)="\w{64}"', "", response.text)
    return response.status_code, text.replace(response.url.path, "")


def everything() -> list[Any]:
    """All rows and keys that hold conversations."""
    tables = [Conversation, Turn, SharedConversation, WorkTask, Episode, Relation, EvaluationReport, Action]
    keys = {key: redis().dump(key) for key in redis().keys("mem:*")}
    return [list(table.objects.order_by("pk").values()) for table in tables] + [keys]


def test_every_address_has_its_case() -> None:
    """M2: a new address comes with what a stranger gets from it."""
    assert routes() == set(WITH_IDS) | FORMS | LISTS | WITHOUT_IDS


def test_a_foreign_id_looks_like_a_missing_one(carol: Person, secret: dict[str, str], flow: Flow) -> None:
    """M2: on every address the same 404 with the same body, and nothing of Bob's is changed."""
    before, page = everything(), browser(carol)
    absent = ids(987654, uuid.uuid4(), uuid.uuid4(), own_flow=flow.pk)
    absent |= {"user_id": "987654", "task_id": "987654", "episode_id": str(uuid.uuid4()), "relation_id": "987654"}
    absent |= {"report_id": str(uuid.uuid4()), "action_id": str(uuid.uuid4())}
    for request in REQUESTS:
        client = carol.api if request[0].startswith("api/") else page
        foreign = ask(client, request, secret)
        assert essence(foreign) == essence(ask(client, request, absent)), request
        assert foreign.status_code == 404, request
        if request[0].startswith("api/"):
            assert foreign.json()["errors"][0]["code"] == "not_found", request
    assert everything() == before


def test_nobody_gets_anything_without_a_login(live: str, secret: dict[str, str]) -> None:
    """O4: 401 from the API, the login page from a page."""
    before, stranger = everything(), httpx2.Client(base_url=live)
    for request in [*REQUESTS, *((route, "GET", None) for route in LISTS)]:
        response = ask(stranger, request, secret)
        if request[0].startswith("api/"):
            assert response.status_code == 401, request
            assert response.headers["WWW-Authenticate"] == "Token", request
        else:
            assert response.headers["Location"].startswith("/accounts/login/"), request
    assert everything() == before


def test_a_list_shows_only_ones_own(carol: Person, secret: dict[str, str]) -> None:
    """M2, F7: neither Bob's conversations nor the flow that Carol may not use."""
    for route in LISTS:
        shown = (carol.api if route.startswith("api/") else browser(carol)).get(f"/{route}")
        assert shown.status_code == 200, route
        assert not [word for word in ("绝密", "内部助手", secret["session_id"]) if word in shown.text], route


def test_a_search_finds_only_ones_own(carol: Person, bob: Person, secret: dict[str, str]) -> None:
    """M2."""
    found = [person.api.get("/api/memory/sessions", params={"q": "收购"}).json()["results"] for person in (carol, bob)]
    assert [len(results) for results in found] == [0, 1]


def test_a_session_belongs_to_its_flow(bob: Person, flow: Flow, secret: dict[str, str]) -> None:
    """M2: even for its owner, and even where the two flows are at different versions."""
    for _ in range(2):
        Flow.objects.get(pk=secret["flow_id"]).publish(flow.versions.get().definition)
    later = bob.says(Flow.objects.get(pk=secret["flow_id"]), "新版本的会话")["session_id"]
    for session in (secret["session_id"], later):
        response = bob.api.post(f"/api/flows/{flow.pk}/execute", json={"input": "x", "session_id": session})
        assert (response.status_code, response.json()["errors"][0]["code"]) == (404, "not_found")
        assert browser(bob).get(f"/flows/{flow.pk}/{session}/").status_code == 404
        body = {"scope": "session", "session_id": session, "flow_id": flow.pk}
        assert bob.api.post("/api/memory/erase", json=body).status_code == 404
    assert Conversation.objects.count() == 2


def test_who_leaves_the_group_keeps_what_was_said_but_talks_no_more(bob: Person, secret: dict[str, str]) -> None:
    """F7, M10: and can still erase it."""
    bob.user.groups.clear()
    session = secret["session_id"]
    body = {"input": "x", "session_id": session}
    assert bob.api.post(f"/api/flows/{secret['flow_id']}/execute", json=body).status_code == 404
    assert bob.api.post(f"/api/turns/{secret['turn_id']}/regenerate").status_code == 404
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
    assert page.get(f"/flows/{secret['flow_id']}/{secret['session_id']}/").status_code == 302
