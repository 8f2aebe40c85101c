"""S8: a person's open pages hear at once what changed, and nobody else's do."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from flows.models import Flow
from memory.signals import session_changed
from tests.factories import ConversationFactory
from tests.people import Person


@contextmanager
def page_of(person: Person) -> Iterator[ClientConnection]:
    address = f"{person.address.replace('http', 'ws')}/ws/me/"
    with connect(address, additional_headers={"Authorization": f"Token {person.key}"}) as page:
        yield page


def test_a_turn_tells_the_persons_other_pages_and_no_strangers(bob: Person, carol: Person, flow: Flow) -> None:
    with page_of(bob) as page, page_of(carol) as strangers:
        session_id = bob.says(flow, "你好")["session_id"]
        notices = [json.loads(page.recv(timeout=20)) for _ in ("started", "ended")]
        assert notices == [{"type": "session.changed", "session_id": session_id}] * 2
        carols = carol.says(flow, "我是周可")["session_id"]
        assert json.loads(strangers.recv(timeout=20))["session_id"] == carols


def test_a_job_that_changes_a_session_tells_its_owner(bob: Person, flow: Flow) -> None:
    with page_of(bob) as page:
        session_changed.send(sender=None, user_id=bob.user.pk, session_id="some-session")
        assert json.loads(page.recv(timeout=20)) == {"type": "session.changed", "session_id": "some-session"}


def test_erasing_tells_the_owners_pages_which_sessions_are_gone(bob: Person, carol: Person, flow: Flow) -> None:
    """M10: one notice for each, and none to strangers."""
    sessions = [ConversationFactory(user=bob.user, flow_id=flow.pk) for _ in range(3)]
    with page_of(bob) as page, page_of(carol) as strangers:
        bob.api.delete(f"/api/memory/sessions/{sessions[0].pk}")
        bob.api.post("/api/memory/erase", json={"scope": "all"})
        notices = [json.loads(page.recv(timeout=20)) for _ in sessions]
        assert {(notice["type"], notice["erased"]) for notice in notices} == {("session.changed", True)}
        assert {notice["session_id"] for notice in notices} == {str(session.pk) for session in sessions}
        session_changed.send(sender=None, user_id=carol.user.pk, session_id="carols")
        assert json.loads(strangers.recv(timeout=20))["session_id"] == "carols"


def test_nobody_listens_without_a_login(live: str) -> None:
    with pytest.raises(InvalidStatus), connect(f"{live.replace('http', 'ws')}/ws/me/"):
        pass


def test_favourites_are_the_persons_own(bob: Person, carol: Person, flow: Flow) -> None:
    """F7"""
    assert bob.api.put(f"/api/flows/{flow.pk}/favourite").status_code == 204
    assert bob.api.put(f"/api/flows/{flow.pk}/favourite").status_code == 204
    assert [mark.user_id for mark in flow.favourites.all()] == [bob.user.pk]
    assert carol.api.delete(f"/api/flows/{flow.pk}/favourite").status_code == 204
    assert flow.favourites.count() == 1
    assert bob.api.delete(f"/api/flows/{flow.pk}/favourite").status_code == 204
    assert flow.favourites.count() == 0
