"""The catalogue: which flows are on it, and the way into them."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from flows.models import Favourite, Flow
from memory.models import Conversation
from tests.factories import UserFactory, make_flow
from tests.flows.pages.reading import shown_questions

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "address", ["/", "/flows/1/", "/flows/1/0b6c52ad-3b9f-4f43-9d57-6c1f6a1f2b11/", "/flows/sessions/"]
)
def test_a_stranger_is_sent_to_the_login_and_back(client: Client, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 302
    assert response["Location"] == f"/accounts/login/?next={address}"


def make_flow_for(group: Group, **fields: Any) -> Flow:
    flow = make_flow(**fields)
    flow.groups.add(group)
    return flow


def test_the_catalogue_shows_the_flows_that_one_may_use_on_their_shelves(page: Client, assistant: Flow) -> None:
    """F7: description, category and starter prompts; not what is for others only."""
    make_flow(name="周报生成", category="writing")
    make_flow_for(Group.objects.create(name="财务"), name="报销审核")
    html = page.get("/").content.decode()
    assert "王小明，今天想做什么？" in html
    assert html.index("日常") < html.index(assistant.name) < html.index("写作") < html.index("周报生成")
    assert "问什么都行。" in html
    assert "报销审核" not in html


def test_favourites_stand_on_a_shelf_of_their_own_before_the_others(page: Client, user: User, assistant: Flow) -> None:
    """F7"""
    writing = make_flow(name="周报生成", category="writing")
    Favourite.objects.create(user=user, flow=writing)
    Favourite.objects.create(user=UserFactory(), flow=assistant)
    html = page.get("/").content.decode()
    assert html.index("收藏") < html.index("周报生成") < html.index("日常") < html.index(assistant.name)
    assert "写作" not in html
    assert html.count('aria-pressed="true"') == 1


def test_the_catalogue_without_flows_says_what_to_do(page: Client) -> None:
    assert "还没有对您开放的流程" in page.get("/").content.decode()


def test_the_catalogue_shows_where_one_was_last(page: Client, session: Conversation) -> None:
    html = page.get("/").content.decode()
    assert html.count(f'href="/flows/{session.flow_id}/{session.pk}/"') == 2  # in the sidebar and to go on with


def test_a_starter_prompt_stands_in_the_box_of_a_fresh_conversation(
    page: Client, assistant: Flow, session: Conversation
) -> None:
    """F7"""
    assert f'href="/flows/{assistant.pk}/?starter=2"' in page.get("/").content.decode()
    html = page.get(f"/flows/{assistant.pk}/?starter=2").content.decode()
    assert re.search(r"<textarea[^>]*>上次谈到哪里了？</textarea>", html)
    assert shown_questions(html) == []


@pytest.mark.parametrize("starter", ["0", "3", "-1", "x", "²", "9" * 5000])
def test_a_starter_that_does_not_exist_leaves_the_box_empty(page: Client, assistant: Flow, starter: str) -> None:
    html = page.get(f"/flows/{assistant.pk}/", {"starter": starter}).content.decode()
    assert re.search(r"<textarea id=\"input\"[^>]*></textarea>", html)
