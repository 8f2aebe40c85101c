"""The memory switch: per user, flow, session and request; each can only narrow (M11)."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from flows.models import Flow
from memory.models import Turn
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
