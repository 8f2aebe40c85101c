"""The memory switch: per user, flow, session and request; each can only narrow (M11)."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from django.contrib.auth.models import Group

from flows.models import Flow
from memory.models import Conversation, Turn
from tests.doubles import ModelServer
from tests.factories import linear_definition, make_flow
from tests.memory.hot_copy import items, said_to
from tests.people import Person

ON_OFF = (True, False)


def switch_user(bob: Person, on: bool) -> None:
    response = bob.api.patch("/api/memory/settings", json={"memory_enabled": on})
    assert response.json()["memory_enabled"] is on


def switch_session(bob: Person, session: str, on: bool) -> None:
    response = bob.api.patch(f"/api/memory/sessions/{session}", json={"memory_enabled": on})
    assert response.json()["memory_enabled"] is on


def switch_flow(bob: Person, flow: Flow, on: bool) -> None:
    response = bob.api.put(f"/api/flows/{flow.pk}/memory", json={"memory_enabled": on})
    assert response.json() == {"memory_enabled": on}


@pytest.mark.parametrize("new_session", [True, False])
def test_somebody_turns_memory_off_for_one_flow(bob: Person, flow: Flow, model: ModelServer, new_session: bool) -> None:
    """M11: there and nowhere else, in sessions old and new, until they turn it on again."""
    other = make_flow()
    session = bob.says(flow, "开始")["session_id"]
    switch_flow(bob, flow, False)
    where = {} if new_session else {"session_id": session}
    here, there = bob.says(flow, "说", **where), bob.says(other, "说")
    switch_flow(bob, flow, True)
    later = bob.says(flow, "又说", **where)
    remembered = {str(pk): on for pk, on in Turn.objects.values_list("pk", "memory_enabled")}
    assert [remembered[turn["turn_id"]] for turn in (here, there, later)] == [False, True, True]


def test_a_flow_switched_off_is_narrower_for_its_owner_alone(
    bob: Person, carol: Person, flow: Flow, model: ModelServer
) -> None:
    """M2, M11: an answer given anew in it is not remembered either."""
    session = bob.says(flow, "开始")
    switch_flow(bob, flow, False)
    assert carol.api.get(f"/api/flows/{flow.pk}/memory").json() == {"memory_enabled": True}
    assert bob.api.get(f"/api/flows/{flow.pk}/memory").json() == {"memory_enabled": False}
    again = bob.api.post(f"/api/turns/{session['turn_id']}/regenerate").json()["turn_id"]
    assert not Turn.objects.get(pk=again).memory_enabled
    assert Turn.objects.get(pk=carol.says(flow, "说")["turn_id"]).memory_enabled


def test_what_was_said_before_a_flow_was_switched_off_is_not_read_by_jobs(
    bob: Person, flow: Flow, model: ModelServer
) -> None:
    """M11: neither for a memory nor for a summary, for as long as it is off."""
    bob.says(flow, "北斗项目五月三日上线")
    switch_flow(bob, flow, False)
    assert not Conversation.objects.remembered().exists()
    switch_flow(bob, flow, True)
    assert Conversation.objects.remembered().count() == 1


@pytest.mark.parametrize("body", [{}, {"memory_enabled": "maybe"}, {"memory_enabled": True, "all": 1}])
def test_a_flow_is_switched_by_yes_or_no_alone(bob: Person, flow: Flow, body: Any) -> None:
    assert bob.api.put(f"/api/flows/{flow.pk}/memory", json=body).status_code == 400


def test_a_flow_that_one_may_not_use_has_no_switch(bob: Person, db: None) -> None:
    closed = make_flow()
    closed.groups.add(Group.objects.create(name="others"))
    missing = bob.api.get("/api/flows/999999/memory")
    assert (missing.status_code, bob.api.get(f"/api/flows/{closed.pk}/memory").json()) == (404, missing.json())


@pytest.mark.parametrize("flow_on", ON_OFF)
def test_memory_is_on_only_where_every_switch_is_on(bob: Person, model: ModelServer, flow_on: bool) -> None:
    """M11: all sixteen positions, and the request that says nothing."""
    flow = make_flow(linear_definition(memory=flow_on))
    session = bob.says(flow, "开始")["session_id"]
    for user_on, session_on, request in product(ON_OFF, ON_OFF, (True, False, None)):
        switch_user(bob, user_on)
        switch_session(bob, session, session_on)
        turn_id = bob.says(flow, "说", session_id=session, memory=request)["turn_id"]
        expected = flow_on and user_on and session_on and request is not False
        assert Turn.objects.get(pk=turn_id).memory_enabled is expected, (flow_on, user_on, session_on, request)


def off_for_user(bob: Person, session: str) -> dict[str, Any]:
    switch_user(bob, False)
    return {}


def off_for_session(bob: Person, session: str) -> dict[str, Any]:
    switch_session(bob, session, False)
    return {}


def off_for_request(bob: Person, session: str) -> dict[str, Any]:
    return {"memory": False}


@pytest.mark.parametrize("switch_off", [off_for_user, off_for_session, off_for_request])
def test_the_visible_session_goes_on_without_memory(
    bob: Person, flow: Flow, model: ModelServer, switch_off: Callable[[Person, str], dict[str, Any]]
) -> None:
    """M11: from its own window, which is kept up to date."""
    session = bob.says(flow, "一")["session_id"]
    body = switch_off(bob, session)
    bob.says(flow, "二", session_id=session, **body)
    bob.says(flow, "三", session_id=session, **body)
    assert said_to(model) == ["user: 一", "assistant: 一", "user: 二", "assistant: 二", "user: 三"]
    assert len(items(session)) == 6
    assert list(Turn.objects.order_by("seq").values_list("memory_enabled", flat=True)) == [True, False, False]


def test_switching_on_again_does_not_reach_back(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M11: what was said without memory stays without, later too."""
    session = bob.says(flow, "一", memory=False)["session_id"]
    switch_session(bob, session, True)
    bob.says(flow, "二", session_id=session)
    assert list(Turn.objects.order_by("seq").values_list("memory_enabled", flat=True)) == [False, True]


def test_the_switches_are_the_persons_own(bob: Person, carol: Person, flow: Flow, model: ModelServer) -> None:
    """M2, M11."""
    switch_user(bob, False)
    assert carol.api.get("/api/memory/settings").json() == {"memory_enabled": True, "portrait_enabled": True}
    carol.says(flow, "说")
    assert Turn.objects.get().memory_enabled


@pytest.mark.parametrize("body", [{"memory_enabled": "maybe"}, {"memory": False}, {"memory_enabled": None}, []])
def test_a_switch_that_does_not_exist_is_refused(bob: Person, body: Any) -> None:
    """M11: a misspelt switch must not be passed over in silence."""
    assert bob.api.patch("/api/memory/settings", json=body).status_code == 400
    assert bob.api.get("/api/memory/settings").json() == {"memory_enabled": True, "portrait_enabled": True}
