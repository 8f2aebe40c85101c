"""Logging in by name and password, and the keys that come of it (O4)."""

import json
from datetime import timedelta

import httpx2
import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from knox.models import AuthToken

from flows.models import Flow
from tests.factories import PASSWORD
from tests.people import Person

HOURS = timedelta(hours=1)


def log_in(person: Person, password: str = PASSWORD, username: str = "bob") -> httpx2.Response:
    body = json.dumps({"username": username, "password": password})
    headers = {"Content-Type": "application/json"}
    return httpx2.post(f"{person.address}/api/auth/login", content=body, headers=headers)


def sees_flows(person: Person, authorization: str) -> int:
    return httpx2.get(
        f"{person.address}/api/flows", headers=[(b"Authorization", authorization.encode("latin1"))]
    ).status_code


def test_a_login_gives_a_key_that_works_in_both_spellings(bob: Person) -> None:
    given = log_in(bob)
    assert (given.status_code, set(given.json())) == (200, {"token", "expiry"})
    expiry = parse_datetime(given.json()["expiry"])
    assert expiry
    assert abs(expiry - timezone.now() - timedelta(days=settings.API_TOKEN_DAYS)) < HOURS
    for scheme in ("Token", "Bearer", "token", "BEARER"):
        assert sees_flows(bob, f"{scheme} {given.json()['token']}") == 200


def test_a_key_is_kept_nowhere_but_as_a_hash(bob: Person) -> None:
    key = log_in(bob).json()["token"]
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT count(*) FROM "{table}" t WHERE t::text LIKE %s', [f"%{key}%"])  # noqa: S608
            assert cursor.fetchone()[0] == 0, table
    assert AuthToken.objects.get().digest


def test_an_expired_key_is_refused_and_deleted(bob: Person) -> None:
    key = log_in(bob).json()["token"]
    AuthToken.objects.update(expiry=timezone.now())
    assert sees_flows(bob, f"Token {key}") == 401
    assert not AuthToken.objects.exists()


def test_a_logout_ends_the_key_that_it_came_with_and_no_other(bob: Person) -> None:
    keys = [log_in(bob).json()["token"] for _ in range(2)]
    headers = {"Authorization": f"Token {keys[0]}"}
    assert httpx2.post(f"{bob.address}/api/auth/logout", headers=headers).status_code == 204
    assert [sees_flows(bob, f"Token {key}") for key in keys] == [401, 200]


@pytest.mark.parametrize(
    "authorization", ["Token", "Token x", "Token a b", "Basic eA==", "Bearer \xff", "", "x" * 9000]
)
def test_a_key_that_is_none_is_401(bob: Person, authorization: str) -> None:
    assert sees_flows(bob, authorization) == 401


def test_a_wrong_name_and_a_wrong_password_are_told_apart_by_nothing(bob: Person) -> None:
    wrong = [log_in(bob, "falsch"), log_in(bob, username="nobody"), log_in(bob, username="a\0b"), log_in(bob, "\ud83d")]
    assert [answer.status_code for answer in wrong] == [401] * 4
    assert len({answer.text for answer in wrong}) == 1


def test_a_deactivated_person_logs_in_no_more(bob: Person) -> None:
    bob.user.is_active = False
    bob.user.save()
    assert log_in(bob).text == log_in(bob, "falsch").text


def test_too_many_failures_lock_the_name_and_nobody_else(bob: Person, carol: Person) -> None:
    for _ in range(settings.AXES_FAILURE_LIMIT):
        log_in(bob, "falsch")
    locked = log_in(bob)
    assert (locked.status_code, locked.json()["errors"][0]["code"]) == (429, "throttled")
    assert int(locked.headers["Retry-After"]) > 0
    assert log_in(carol, username="carol").status_code == 200


def test_the_login_page_locks_too(bob: Person) -> None:
    page = Client()
    for _ in range(settings.AXES_FAILURE_LIMIT):
        page.post("/accounts/login/", {"username": "bob", "password": "falsch"})
    assert page.post("/accounts/login/", {"username": "bob", "password": PASSWORD}).status_code == 429


def test_the_cookie_of_a_page_needs_the_pages_own_token(bob: Person, flow: Flow) -> None:
    """O4: no other site can make a browser write."""
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(bob.user)
    body = {"data": {"memory_enabled": False}, "content_type": "application/json"}
    assert browser.get("/api/memory/settings").status_code == 200
    assert browser.patch("/api/memory/settings", **body).status_code == 403
    browser.get(f"/flows/{flow.pk}/")
    token = browser.cookies["csrftoken"].value
    assert browser.patch("/api/memory/settings", headers={"X-CSRFToken": token}, **body).status_code == 200
