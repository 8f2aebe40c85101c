"""Each person's own language and time zone (S1)."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memory.models import Conversation
from profiles.models import UserProfile
from tests.factories import ConversationFactory, TurnFactory, make_flow

pytestmark = pytest.mark.django_db


@pytest.fixture
def bob() -> User:
    user = User.objects.create(username="bob")
    UserProfile.objects.create(user=user, display_name="王小明", time_zone="Asia/Shanghai")
    return user


def browser_of(user: User, language: str = "en") -> Client:
    client = Client(headers={"accept-language": language})
    client.force_login(user)
    return client


def test_a_language_once_chosen_is_spoken_in_every_browser(bob: User) -> None:
    browser_of(bob).post("/i18n/setlang/", {"language": "zh-hans"})
    assert 'lang="zh-hans"' in browser_of(bob, "en").get("/").content.decode()


def test_until_then_the_browser_decides(bob: User) -> None:
    assert 'lang="en"' in browser_of(bob, "en").get("/").content.decode()


def test_a_language_that_does_not_exist_changes_nothing(bob: User) -> None:
    browser_of(bob).post("/i18n/setlang/", {"language": "xx"})
    bob.profile.refresh_from_db()
    assert bob.profile.preferred_language == ""


def test_an_exported_conversation_has_the_persons_own_times(bob: User) -> None:
    flow = make_flow()
    conversation: Conversation = ConversationFactory(user=bob, flow_id=flow.pk)
    TurnFactory(conversation=conversation, started_at=datetime(2026, 1, 15, 20, 30, tzinfo=UTC))
    text = browser_of(bob).get(f"/api/memory/sessions/{conversation.pk}/export").content.decode()
    assert "2026-01-16 04:30" in text
