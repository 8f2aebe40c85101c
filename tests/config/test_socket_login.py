"""Who may open a socket: a key, or the login cookie from a page of this site (O4, M2)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from django.contrib.auth.models import Group
from django.test import Client
from django.utils import timezone
from knox.models import AuthToken
from websockets.exceptions import InvalidMessage, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from flows.models import Flow
from tests.doubles import ModelServer
from tests.people import Person, Socket

EVIL = ("https://evil.example", "null", "http://127.0.0.1", "http://127.0.0.1.evil.example", "http://[", "x" * 4000)


@pytest.fixture
def cookie(bob: Person) -> str:
    """Bob's login cookie."""
    client = Client()
    client.force_login(bob.user)
    return f"sessionid={client.cookies['sessionid'].value}"


@contextmanager
def opened(address: str, path: object, **headers: str) -> Iterator[ClientConnection]:
    url = f"ws://{urlsplit(address).netloc}/ws/{path}"
    with connect(url, additional_headers=headers, open_timeout=20) as connection:
        yield connection


def status(address: str, path: object, **headers: str) -> int:
    """The HTTP status with which the handshake ends; 101 when the socket opens."""
    try:
        with opened(address, path, **headers):
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code
    except InvalidMessage:  # headers so odd that the server hung up
        return 400


def test_a_page_of_this_site_chats_by_cookie(live: str, flow: Flow, cookie: str, model: ModelServer) -> None:
    """O4."""
    with opened(live, f"flows/{flow.pk}/", Origin=live, Cookie=cookie) as connection:
        socket = Socket(connection)
        socket.send("turn.start", input="你好")
        assert socket.to_end()[-1]["output"] == "你好"


def test_a_page_of_another_site_is_refused_whoever_is_logged_in(live: str, flow: Flow, cookie: str) -> None:
    """O4: the browser would send the cookie along."""
    path = f"flows/{flow.pk}/"
    assert {origin: status(live, path, Origin=origin, Cookie=cookie) for origin in EVIL} == dict.fromkeys(EVIL, 403)


def test_another_site_is_refused_without_a_cookie_too(live: str, flow: Flow) -> None:
    """O4."""
    assert status(live, f"flows/{flow.pk}/", Origin="https://evil.example") == 403


def test_a_host_that_is_not_ours_is_refused(live: str, flow: Flow, cookie: str) -> None:
    """O4: else another name for this server would be its own origin."""
    headers = {"Host": "evil.example", "Origin": "http://evil.example", "Cookie": cookie}
    assert status(live, f"flows/{flow.pk}/", **headers) == 403


@pytest.mark.parametrize("host", ["[::1]", "[::1]:8000", "127.0.0.1", "127.0.0.1:1", "LOCALHOST:8000", "localhost."])
def test_a_host_is_ours_as_it_is_for_pages(live: str, flow: Flow, cookie: str, settings: Any, host: str) -> None:
    """O4: an IPv6 address has colons of its own; a port says nothing."""
    settings.ALLOWED_HOSTS = ["[::1]", "127.0.0.1", "localhost"]
    headers = {"Host": host, "Cookie": cookie}
    page = httpx2.get(f"{live}/flows/{flow.pk}/", headers=headers)
    assert (page.status_code, status(live, f"flows/{flow.pk}/", **headers, Origin=f"http://{host}")) == (200, 101)


@pytest.mark.parametrize("host", ["[::2]", "[::1]x", "[::1", "::1", "evil.example:8000", "127.0.0.1:x", "", ":8000"])
def test_a_host_is_foreign_as_it_is_for_pages(live: str, flow: Flow, cookie: str, settings: Any, host: str) -> None:
    """O4."""
    settings.ALLOWED_HOSTS = ["[::1]", "127.0.0.1", "localhost"]
    headers = {"Host": host, "Cookie": cookie}
    page = httpx2.get(f"{live}/flows/{flow.pk}/", headers=headers)
    assert page.status_code == 400
    assert status(live, f"flows/{flow.pk}/", **headers, Origin=f"http://{host}") in (400, 403)


def test_a_site_that_settings_trust_is_let_in(live: str, flow: Flow, cookie: str, settings: object) -> None:
    """O4: behind a proxy that changes the host name."""
    settings.CSRF_TRUSTED_ORIGINS = ["https://chat.example"]  # type: ignore[attr-defined]
    assert status(live, f"flows/{flow.pk}/", Origin="https://chat.example", Cookie=cookie) == 101


LOGINS = {
    "none": {},
    "an unknown key": {"Authorization": "Token 0123456789"},
    "no key": {"Authorization": "Token"},
    "another scheme": {"Authorization": "Basic Ym9iOnRhY2l0LWRlbW8="},
    "bytes": {"Authorization": "Token \xff\xfe"},
    "an unknown cookie": {"Cookie": "sessionid=0123456789"},
    "a broken cookie": {"Cookie": 'sessionid; =;;;=,"'},
    "a hostile cookie": {"Cookie": "sessionid=" + "*" * 4000},
}


@pytest.mark.parametrize("headers", LOGINS.values(), ids=LOGINS.keys())
def test_nobody_gets_in_without_a_login(live: str, flow: Flow, headers: dict[str, str]) -> None:
    """O4: refused before the socket opens."""
    assert status(live, f"flows/{flow.pk}/", **headers) in (400, 403)


def test_both_spellings_of_a_key_open_a_socket(bob: Person, flow: Flow) -> None:
    """O4."""
    for scheme in ("Token", "Bearer", "bearer"):
        assert status(bob.address, f"flows/{flow.pk}/", Authorization=f"{scheme} {bob.key}") == 101


def test_an_expired_key_and_a_deactivated_person_are_refused(bob: Person, flow: Flow, cookie: str) -> None:
    """O4: the same for the cookie."""
    path, key = f"flows/{flow.pk}/", {"Authorization": f"Token {bob.key}"}
    AuthToken.objects.update(expiry=timezone.now())
    assert status(bob.address, path, **key) == 403
    bob.user.is_active = False
    bob.user.save()
    assert status(bob.address, path, Cookie=cookie, Origin=bob.address) == 403


def test_a_foreign_flow_looks_like_a_missing_one(carol: Person, flow: Flow) -> None:
    """M2, F7: and like an address that leads nowhere."""
    flow.groups.add(Group.objects.create(name="研发中心"))
    draft = Flow.objects.create(slug="draft", name="草稿")
    numbers = (flow.pk, draft.pk, 987654, 2**64, "9" * 5000)
    paths = [*(f"flows/{number}/" for number in numbers), "flows/x/", "flows/-1/", "flows/", "nowhere/", "flows/*/"]
    found = {path: status(carol.address, path, Authorization=f"Token {carol.key}") for path in paths}
    assert found == dict.fromkeys(paths, 403)


def test_who_loses_the_flow_in_an_open_socket_talks_no_more(bob: Person, flow: Flow, model: ModelServer) -> None:
    """F7: rights are asked again at every start."""
    with bob.socket(flow.pk) as socket:
        flow.groups.add(Group.objects.create(name="研发中心"))
        socket.send("turn.start", input="你好")
        frame = socket.receive()
        assert (frame["type"], frame["code"]) == ("error", "not_found")
        flow.groups.clear()
        bob.user.is_active = False
        bob.user.save()
        socket.send("turn.start", input="你好")
        assert socket.receive()["code"] == "not_found"
    assert model.chats == []
