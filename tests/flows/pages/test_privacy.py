"""Nobody sees what is not theirs, and nothing tells a foreign object from a missing one."""

import re
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from flows.models import Flow
from memory.models import Conversation
from tests.factories import ConversationFactory, TurnFactory, make_flow

pytestmark = pytest.mark.django_db


def make_flow_for(group: Group, **fields: Any) -> Flow:
    flow = make_flow(**fields)
    flow.groups.add(group)
    return flow


def test_whatever_is_not_bobs_looks_like_what_does_not_exist(
    page: Client, assistant: Flow, session: Conversation
) -> None:
    """M2: foreign, missing and malformed addresses give one and the same page."""
    other = make_flow(name="翻译润色")
    closed = make_flow_for(Group.objects.create(name="财务"))
    foreign = ConversationFactory(flow_id=assistant.pk)
    addresses = [
        f"/flows/{assistant.pk}/{foreign.pk}/",
        f"/flows/{assistant.pk}/{uuid.uuid4()}/",
        f"/flows/{other.pk}/{session.pk}/",
        f"/flows/{closed.pk}/",
        f"/flows/{closed.pk}/{foreign.pk}/",
        "/flows/999999/",
        f"/flows/{'9' * 30}/",
        *(
            f"/flows/{assistant.pk}/{name}/"
            for name in ("*", "a:b", "😀", "x" * 10_000, "%20", str(session.pk).upper())
        ),
        f"/flows/{assistant.pk}/{foreign.pk}/?before=9",
        f"/flows/{assistant.pk}/{session.pk}/?before=x",
    ]
    pages = set()
    for address in addresses:
        response = page.get(address)
        assert response.status_code == 404, address
        html = response.content.decode()
        pages.add(re.sub(r'nonce="[^"]*"|name="csrfmiddlewaretoken" value="[^"]*"|name="next" value="[^"]*"', "", html))
    assert len(pages) == 1
    assert "这里什么也没有" in pages.pop()


def test_what_somebody_else_said_is_on_no_page(page: Client, assistant: Flow, session: Conversation) -> None:
    """M2"""
    foreign = TurnFactory(conversation__flow_id=assistant.pk, conversation__title="别人的标题", input="别人的话")
    for address in ("/", f"/flows/{assistant.pk}/", "/flows/sessions/", "/flows/sessions/?q=别人"):
        html = page.get(address).content.decode()
        assert "别人的" not in html
    assert page.get(f"/flows/turns/{foreign.pk}/").status_code == 404
