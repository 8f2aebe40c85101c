"""What the pages around a conversation share: which of them one is on, and what flows are called there."""

import re
import uuid

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from flows.models import Flow
from memory.models import ForgetfulFlow
from profiles.aggregation import aggregate
from profiles.models import FlowUse

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("address", ["/memory/", "/tasks/"])
def test_the_sidebar_marks_the_page_that_one_is_on_and_no_other(page: Client, address: str) -> None:
    html = page.get(address).content.decode()
    links = re.findall(r'<a class="side-link[^>]*>', html)
    assert [re.findall('href="([^"]*)"', link)[0] for link in links if "aria-current" in link] == [address]


@pytest.mark.parametrize(("language", "name"), [("en", "General assistant"), ("zh-hans", "通用助手")])
def test_a_flow_is_called_on_other_pages_as_in_the_catalogue(
    page: Client, user: User, assistant: Flow, language: str, name: str
) -> None:
    """In the reader's language; by the name that was noted where it may no longer be used."""
    page.cookies["django_language"] = language
    FlowUse.objects.create(
        user=user, flow_id=assistant.pk, flow_name="旧名", turn_id=uuid.uuid4(), session_id=uuid.uuid4()
    )
    ForgetfulFlow.objects.create(user=user, flow_id=assistant.pk, flow_name="旧名")
    aggregate()
    for address in ("/memory/", "/profile/"):
        html = page.get(address).content.decode()
        assert name in html
        assert "旧名" not in html
    assistant.groups.add(Group.objects.create(name="财务"))
    for address in ("/memory/", "/profile/"):
        assert "旧名" in page.get(address).content.decode()
