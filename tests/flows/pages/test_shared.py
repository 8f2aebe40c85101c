"""A conversation that its owner shares, as a colleague sees it."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memory.manager import MemoryManager
from memory.models import Conversation
from tests.factories import TurnFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def link(user: User, session: Conversation) -> str:
    """The address under which Bob shares his conversation."""
    return f"/shared/{MemoryManager().share_session(user, session.pk).token}/"


@pytest.fixture
def colleague() -> Client:
    """The browser of somebody else in the organisation."""
    client = Client()
    client.force_login(UserFactory())
    client.cookies["django_language"] = "zh-hans"
    return client


def test_a_colleague_reads_what_was_said_until_then(colleague: Client, session: Conversation, link: str) -> None:
    """S8"""
    TurnFactory(conversation=session, input="后来才说的")
    html = colleague.get(link).content.decode()
    assert "王小明于" in html
    assert [f"<p>Q{number}</p>" in html for number in (1, 2, 3)] == [True] * 3
    assert "后来才说的" not in html
    assert "data-edit" not in html


def test_a_long_shared_conversation_is_read_backwards(colleague: Client, user: User, session: Conversation) -> None:
    for _ in range(60):
        TurnFactory(conversation=session)
    link = f"/shared/{MemoryManager().share_session(user, session.pk).token}/"
    html = colleague.get(link).content.decode()
    earlier = re.search(r'href="(\?before=\d+)"', html)
    assert earlier
    assert "<p>Q1</p>" not in html
    assert "<p>Q1</p>" in colleague.get(link + earlier[1]).content.decode()


def test_a_stranger_must_log_in_to_read(client: Client, link: str) -> None:
    assert client.get(link).status_code == 302


@pytest.mark.parametrize("ended", ["unshared", "erased", "guessed"])
def test_a_link_that_is_no_longer_good_leads_nowhere(
    colleague: Client, user: User, session: Conversation, link: str, ended: str
) -> None:
    """M10: clearing memory takes the link with it."""
    if ended == "unshared":
        MemoryManager().unshare_session(user, session.pk)
    elif ended == "erased":
        MemoryManager().delete_session(user, session.pk)
    else:
        link = link[:-2] + "x/"
    assert colleague.get(link).status_code == 404
