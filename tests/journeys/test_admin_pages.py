"""The admin in a real browser: its pages keep to their policy, and a model is set up without losing the key."""

import pytest
from django.contrib.auth.models import Group
from playwright.sync_api import expect

import llm
from flows.models import Flow
from tests.doubles import Answer, ModelServer
from tests.factories import ConversationFactory
from tests.journeys.conftest import OpenPage
from tests.people import Person

pytestmark = pytest.mark.browser


@pytest.fixture
def root(bob: Person) -> Person:
    """Bob as a superuser."""
    bob.user.is_staff = bob.user.is_superuser = True
    bob.user.save()
    return bob


def test_a_model_is_tested_and_then_answers_for_everybody(open_page: OpenPage, root: Person) -> None:
    """S5, S6: the first minute of whoever installs it."""
    with ModelServer() as server:
        page = open_page(root, "/admin/")
        page.get_by_role("link", name="设置模型").click()
        page.get_by_label("地址").fill(server.base_url)
        page.get_by_label("API 密钥").fill("sk-canary")
        page.get_by_label("模型", exact=True).fill("scripted-model")
        server.enqueue(Answer("您好，我是模型。"))
        page.get_by_role("button", name="测试").click()
        expect(page.get_by_role("status").first).to_contain_text("您好，我是模型。")
        expect(page.get_by_label("API 密钥")).to_have_value("sk-canary")
        page.get_by_role("button", name="保存并供所有人使用").click()
        expect(page.get_by_text("从现在起，由 scripted-model 为所有人回答。")).to_be_visible()
        assert llm.resolve_profile().api_key == "sk-canary"


@pytest.mark.parametrize("width", [1280, 390])
def test_every_page_fits_the_screen_and_keeps_to_its_policy(
    open_page: OpenPage, root: Person, flow: Flow, width: int
) -> None:
    """O4, S1: the page fixture fails on a violation."""
    Group.objects.create(name="研发中心")
    session = ConversationFactory(user=root.user, flow_id=flow.pk)
    page = open_page(root, "/admin/", width=width)
    for address in (
        "first-run/",
        "auth/user/",
        f"auth/user/{root.user.pk}/change/",
        "auth/group/add/",
        "flows/flow/",
        f"flows/flow/{flow.pk}/change/",
        "memory/conversation/",
        f"memory/conversation/{session.pk}/change/",
        "llm/providerprofile/add/",
        "axes/accessattempt/",
    ):
        page.goto(f"/admin/{address}")
        expect(page.locator("#content")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address


def test_the_account_menu_opens_by_keyboard_and_its_theme_is_the_products(open_page: OpenPage, root: Person) -> None:
    page = open_page(root, "/admin/")
    page.get_by_role("button", name="bob").press("Enter")
    page.get_by_role("button", name="深色").press("Enter")
    expect(page.locator("html")).to_have_class("dark")
    page.goto("/")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto("/admin/")
    expect(page.locator("html")).to_have_class("dark")
