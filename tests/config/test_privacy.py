"""No cache keeps what people see here (O4)."""

import httpx2
import pytest

from flows.models import Flow
from tests.doubles import ModelServer
from tests.factories import ConversationFactory
from tests.memory.test_isolation import browser
from tests.people import Person


def kept(response: object) -> set[str]:
    """What the answer says about being kept."""
    return set(response.headers["Cache-Control"].split(", "))  # type: ignore[attr-defined]


def test_pages_and_answers_are_kept_by_nobody(bob: Person, flow: Flow) -> None:
    session = ConversationFactory(user=bob.user, flow_id=flow.pk)
    page, chat = browser(bob), f"/flows/{flow.pk}/{session.pk}/"
    page.timeout = bob.api.timeout
    for address in ("/", chat, f"{chat}?before=9", "/flows/sessions/", "/flows/999999/", "/accounts/login/"):
        assert {"private", "no-store"} <= kept(page.get(address)), address
    api = f"/api/memory/sessions/{session.pk}"
    for address in (
        "/api/memory/sessions",
        api,
        f"{api}/export",
        f"{api}/export?as=json",
        "/api/nothing",
        "/api/flows",
    ):
        assert kept(bob.api.get(address)) == {"private", "no-store"}, address


def test_a_stream_says_for_itself_how_it_travels(bob: Person, flow: Flow, model: ModelServer) -> None:
    """S2: a proxy must not hold its pieces back."""
    stream = bob.api.post(f"/api/flows/{flow.pk}/stream", json={"input": "你好"})
    assert kept(stream) == {"no-cache", "no-transform"}


@pytest.mark.parametrize("path", ["/static/css/base.css", "/static/js/site.js"])
def test_static_files_may_be_kept(live: str, path: str) -> None:
    assert "no-store" not in httpx2.get(f"{live}{path}").headers["Cache-Control"]
