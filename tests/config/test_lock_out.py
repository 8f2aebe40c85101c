"""Too many wrong passwords lock a name for the address that guessed (O4)."""

import httpx2
import pytest
from django.contrib.auth.models import User
from django.test import Client, RequestFactory
from pytest_django import Settings

from config.lock_out import address

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def grace(settings: Settings) -> User:
    """Somebody with a password, two failures from being locked."""
    settings.AXES_FAILURE_LIMIT = 2
    return User.objects.create_user("grace", password="right")


def attempt(live: str, password: str, **headers: str) -> httpx2.Response:
    body = {"username": "grace", "password": password}
    return httpx2.post(f"{live}/api/auth/login", json=body, headers=headers)


@pytest.fixture
def locked(live: str) -> str:
    """The address of the product, which has seen two wrong passwords."""
    assert attempt(live, "wrong").status_code == 401
    attempt(live, "wrong")
    return live


def test_a_program_is_told_of_the_lock_in_json_and_how_long_to_wait(locked: str) -> None:
    refused = attempt(locked, "right")
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (429, "throttled")
    assert int(refused.headers["Retry-After"]) == 15 * 60


def test_a_person_is_told_of_the_lock_by_a_page(locked: str) -> None:
    page = Client().post("/accounts/login/", {"username": "grace", "password": "right"})
    assert page.status_code == 429
    assert "<h1>" in page.content.decode()


@pytest.mark.parametrize("invented", ["203.0.113.9", "203.0.113.9, 198.51.100.7", "not an address"])
def test_an_invented_forwarding_header_does_not_open_the_lock(locked: str, invented: str) -> None:
    assert attempt(locked, "right", **{"X-Forwarded-For": invented}).status_code == 429


@pytest.mark.parametrize(
    ("proxies", "client"), [(0, "192.0.2.1"), (1, "198.51.100.7"), (2, "203.0.113.9")], ids=["none", "one", "two"]
)
def test_only_as_much_of_the_forwarding_header_counts_as_our_proxies_wrote(
    settings: Settings, proxies: int, client: str
) -> None:
    settings.REST_FRAMEWORK = settings.REST_FRAMEWORK | {"NUM_PROXIES": proxies}
    forwarded = "10.9.9.9, 203.0.113.9, 198.51.100.7"
    request = RequestFactory().get("/", REMOTE_ADDR="192.0.2.1", headers={"x-forwarded-for": forwarded})
    assert address(request) == client
