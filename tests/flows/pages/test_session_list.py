"""The sidebar's list of conversations."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from flows.models import Flow
from memory.models import Conversation
from tests.factories import ConversationFactory, TurnFactory

pytestmark = pytest.mark.django_db


def test_the_list_has_todays_then_this_weeks_then_earlier_conversations(
    page: Client, user: User, assistant: Flow
) -> None:
    for days, title in ((0, "今天说的"), (3, "前几天说的"), (30, "上个月说的")):
        ConversationFactory(
            user=user, flow_id=assistant.pk, title=title, last_active_at=timezone.now() - timedelta(days=days)
        )
    html = page.get("/flows/sessions/").content.decode()
    order = [html.index(text) for text in ("今天", "今天说的", "本周", "前几天说的", "更早", "上个月说的")]
    assert order == sorted(order)


def test_the_list_is_searched_in_titles_and_words(page: Client, session: Conversation) -> None:
    """S1"""
    TurnFactory(conversation=session, output="单号是 AB-1203")
    assert str(session.pk) in page.get("/flows/sessions/?q=ab-1203").content.decode()
    assert str(session.pk) in page.get("/flows/sessions/?q=北斗").content.decode()
    assert "没有对话含有这些字" in page.get("/flows/sessions/?q=南极").content.decode()


def test_an_answer_that_came_while_one_was_away_is_marked_until_it_is_seen(page: Client, session: Conversation) -> None:
    """S8"""
    assert "is-unread" in page.get("/flows/sessions/").content.decode()
    page.get(f"/flows/{session.flow_id}/{session.pk}/")
    assert "is-unread" not in page.get("/flows/sessions/").content.decode()
