"""What may run in a page, in which language it speaks, how it looks to everybody, and who gets in."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.staticfiles.finders import find
from django.test import Client

from flows.models import Flow
from tests.factories import PASSWORD

pytestmark = pytest.mark.django_db


class Elements(HTMLParser):
    """Every element of a page as (tag, attributes)."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.all: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append((tag, dict(attrs)))


@pytest.mark.parametrize("address", ["/accounts/login/", "/", "/flows/{flow}/", "/flows/999999/"])
def test_nothing_on_a_page_needs_more_than_the_strict_policy(page: Client, assistant: Flow, address: str) -> None:
    """O4: scripts carry the nonce of their page, nothing is inline, nothing comes from elsewhere."""
    if address == "/accounts/login/":
        page.logout()
    response = page.get(address.format(flow=assistant.pk))
    policy = response["Content-Security-Policy"]
    assert "unsafe" not in policy
    for tag, attributes in Elements(response.content.decode()).all:
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        for name in ("src", "href", "action"):
            assert (attributes.get(name) or "/").startswith(("/", "#", "?")), (tag, attributes)
        if tag == "script" and attributes.get("type") != "application/json":
            assert attributes["src"]
            assert f"'nonce-{attributes['nonce']}'" in policy
    assert "<style" not in response.content.decode()


def test_a_page_speaks_the_chosen_language(page: Client, assistant: Flow) -> None:
    """S1"""
    assert '<html lang="zh-hans">' in page.get("/").content.decode()
    response = page.post("/i18n/setlang/", {"language": "en", "next": "/"}, follow=True)
    html = response.content.decode()
    assert '<html lang="en">' in html
    assert "what shall we do today?" in html
    assert "General assistant" in html


def test_a_wrong_password_is_said_calmly_and_the_name_is_kept(client: Client, user: User) -> None:
    response = client.post("/accounts/login/", {"username": "bob", "password": "wrong"})
    html = response.content.decode()
    assert 'role="alert"' in html
    assert 'value="bob"' in html


def test_too_many_wrong_passwords_lock_the_login_for_a_while(client: Client, user: User, settings: Any) -> None:
    """O4"""
    settings.AXES_FAILURE_LIMIT = 3
    client.cookies["django_language"] = "zh-hans"
    for _ in range(3):
        response = client.post("/accounts/login/", {"username": "bob", "password": "wrong"})
    assert response.status_code == 429
    assert "登录暂时锁定" in response.content.decode()
    assert client.post("/accounts/login/", {"username": "bob", "password": PASSWORD}).status_code == 429


def luminance(colour: str) -> float:
    """The relative luminance of `#rrggbb` as WCAG defines it."""
    channels = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(text: str, ground: str) -> float:
    darker, lighter = sorted((luminance(text), luminance(ground)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("text", "grounds"),
    [
        ("ink", ["bg", "surface", "sunken", "accent-soft"]),
        ("muted", ["bg", "surface", "sunken", "accent-soft"]),
        ("accent", ["bg", "surface", "sunken", "accent-soft"]),
        ("warn", ["bg", "surface", "warn-soft"]),
        ("danger", ["surface", "danger-soft"]),
        ("accent-ink", ["accent"]),
        ("danger-ink", ["danger"]),
    ],
)
def test_text_can_be_read_on_every_ground_it_stands_on(theme: str, text: str, grounds: list[str]) -> None:
    """S1: WCAG AA, 4.5 : 1."""
    tokens = Path(find("css/tokens.css")).read_text(encoding="utf-8")
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", tokens)
    colours = {name: dark if theme == "dark" else light for name, light, dark in pairs}
    for ground in grounds:
        assert contrast(colours[text], colours[ground]) >= 4.5, ground
