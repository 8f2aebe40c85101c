"""The admin in a real browser: its pages keep to their policy, and a model is set up without losing the key."""

import pytest
from playwright.sync_api import expect

import llm
from flows.models import Flow
from profiles.models import Department, UserProfile
from tests.doubles import Answer, ModelServer
from tests.factories import ConversationFactory
from tests.journeys.conftest import OpenPage
from tests.journeys.test_every_page import looked_at
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
    department = Department(name="研发中心")
    department.save()
    task = root.api.post("/api/tasks", json={"title": "交季度报告"}).json()
    session = ConversationFactory(user=root.user, flow_id=flow.pk)
    page = open_page(root, "/admin/", width=width)
    for address in (
        "first-run/",
        "auth/user/",
        f"auth/user/{root.user.pk}/change/",
        "auth/group/add/",
        "profiles/userprofile/",
        f"profiles/userprofile/{root.user.pk}/change/",
        "profiles/userprofile/import/",
        "profiles/department/",
        f"profiles/department/{department.pk}/change/",
        "profiles/worktask/",
        f"profiles/worktask/{task['id']}/change/",
        "profiles/evaluationreport/",
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_of_the_admin_puts_a_barrier_in_anybodys_way(
    open_page: OpenPage, root: Person, flow: Flow, scheme: str
) -> None:
    """S1: on a desk and on a phone; the pictures go to `screenshots/`."""
    ConversationFactory.create_batch(3, user=root.user, flow_id=flow.pk)
    page = open_page(root, "/")
    page.emulate_media(color_scheme=scheme)
    addresses = {
        "index": "",
        "first-run": "first-run/",
        "users": "auth/user/",
        "user": f"auth/user/{root.user.pk}/change/",
        "flows": "flows/flow/",
        "flow": f"flows/flow/{flow.pk}/change/",
        "sessions": "memory/conversation/",
        "model": "llm/providerprofile/add/",
    }
    barriers: list[str] = []
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        for name, address in addresses.items():
            page.goto(f"/admin/{address}")
            barriers += [f"{name}-{width}: {barrier}" for barrier in looked_at(page, f"admin-{name}-{width}-{scheme}")]
    assert barriers == []


def test_the_account_menu_opens_by_keyboard_and_its_theme_is_the_products(open_page: OpenPage, root: Person) -> None:
    page = open_page(root, "/admin/")
    page.get_by_role("button", name="bob").press("Enter")
    page.get_by_role("button", name="深色").press("Enter")
    expect(page.locator("html")).to_have_class("dark")
    page.goto("/")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto("/admin/")
    expect(page.locator("html")).to_have_class("dark")


def test_the_directory_is_imported_after_a_look(open_page: OpenPage, root: Person) -> None:
    """P8: the file travels along from the first step to the second, quotation marks and all."""
    page = open_page(root, "/admin/profiles/userprofile/")
    page.get_by_role("link", name="从 CSV 文件导入").click()
    people = 'username,display_name,position,aliases\nlily,"李丽 ""小李""","测试, 开发",阿丽;小丽\n'
    file = {"name": "people.csv", "mimeType": "text/csv", "buffer": people.encode("gb18030")}
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="查看会改动什么").click()
    expect(page.get_by_text("新增: lily")).to_be_visible()
    assert not UserProfile.objects.filter(user__username="lily").exists()
    page.get_by_role("button", name="导入", exact=True).click()
    expect(page.get_by_text("已导入：新增 1 人，改动 0 人。")).to_be_visible()
    lily = UserProfile.objects.get(user__username="lily")
    assert (lily.display_name, lily.position, lily.aliases) == ('李丽 "小李"', "测试, 开发", ["阿丽", "小丽"])
