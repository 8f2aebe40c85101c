"""Bob's browser, a flow, and a conversation with it."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from flows.models import Flow
from memory.models import Conversation
from profiles.models import UserProfile
from tests.factories import ConversationFactory, TurnFactory, UserFactory, make_flow


@pytest.fixture
def user() -> User:
    user = UserFactory(username="bob")
    UserProfile.objects.create(user=user, display_name="王小明")
    return user


@pytest.fixture
def page(client: Client, user: User) -> Client:
    """Bob's browser, in Chinese."""
    client.force_login(user)
    client.cookies["django_language"] = "zh-hans"
    return client


@pytest.fixture
def assistant() -> Flow:
    return make_flow(
        description="问什么都行。",
        starters=["帮我排个先后", "上次谈到哪里了？"],
        translations={"en": {"name": "General assistant", "description": "Ask anything."}},
    )


@pytest.fixture
def session(user: User, assistant: Flow) -> Conversation:
    """A conversation of three turns."""
    conversation = ConversationFactory(user=user, flow_id=assistant.pk, flow_name=assistant.name, title="北斗项目")
    for _ in range(3):
        TurnFactory(conversation=conversation)
    return conversation
