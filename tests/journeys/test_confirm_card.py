"""The confirm card in a real browser: checked, changed, created once; the same after a reload (P6, M6)."""

from datetime import timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from flows.models import Action, Flow
from flows.shipped import read_all
from memory.models import Turn, TurnStatus
from profiles.models import WorkTask
from tests.factories import make_flow
from tests.journeys.conftest import OpenPage
from tests.journeys.test_chat_page import ended, say
from tests.journeys.test_every_page import SIDEWAYS
from tests.journeys.test_keyboard import tab_to
from tests.people import Person
from tests.profiles.organisation import organisation

pytestmark = pytest.mark.browser
SENTENCE = "给小明派个任务，下周五前交季度报告"
ONE = "给王小明派个任务：交季度报告"
PICTURES = Path(__file__).resolve().parents[2] / "screenshots"


@pytest.fixture
def cast(live: str) -> dict[str, Person]:
    return {name: Person(user, live) for name, user in organisation().items()}


@pytest.fixture
def alice(cast: dict[str, Person]) -> Person:
    return cast["alice"]


@pytest.fixture
def assigning(transactional_db: None) -> Flow:
    """The shipped flow."""
    data = next(data for data in read_all() if data["slug"] == "assign-work")
    return make_flow(data["definition"], name=data["name"], icon=data["icon"], starters=data["starters"])


def card(page: Page) -> Locator:
    return page.locator("[data-card]").last


def create(page: Page) -> None:
    card(page).get_by_role("button", name="创建任务").click()


def test_a_sentence_becomes_a_task_by_a_click_and_its_owner_sees_it_at_once(
    open_page: OpenPage, cast: dict[str, Person], assigning: Flow
) -> None:
    """P6: the main journey."""
    his = open_page(cast["bob"], "/")
    expect(his.get_by_role("img", name="新任务")).to_be_hidden()
    page = open_page(cast["alice"], f"/flows/{assigning.pk}/")
    page.get_by_role("button", name=SENTENCE).click()
    page.get_by_label("您的消息").press("Enter")
    expect(ended(page)).to_contain_text("李小明、王小明")
    expect(card(page).get_by_label("标题")).to_have_value("交季度报告")
    expect(card(page).get_by_label("期限")).to_have_value(next_friday())
    create(page)
    expect(card(page).get_by_role("alert")).to_have_text("请选择交给谁。")
    expect(card(page).get_by_label("派给")).to_be_focused()
    assert not WorkTask.objects.exists()
    card(page).get_by_label("派给").select_option(label="王小明 · 研发中心")
    card(page).get_by_label("说明").fill("含附表")
    create(page)
    expect(page.locator(".turn")).to_have_count(2)
    expect(ended(page)).to_contain_text("已给王小明派任务“交季度报告”")
    expect(page.locator(".turn").last.locator("[data-input]")).to_have_text("确认")
    expect(card(page)).to_contain_text("已创建")
    expect(card(page).get_by_role("heading")).to_have_text("任务")
    task = WorkTask.objects.get()
    assert (task.assignee, task.description) == (cast["bob"].user, "含附表")
    expect(his.get_by_role("img", name="新任务")).to_be_visible()
    page.reload()
    expect(card(page)).to_contain_text("已创建")
    expect(card(page).get_by_label("派给")).to_have_value(str(cast["bob"].user.pk))
    expect(card(page).get_by_label("标题")).to_be_disabled()
    expect(card(page).get_by_role("button")).to_have_count(0)


def next_friday() -> str:
    today = timezone.now().astimezone(ZoneInfo("Asia/Shanghai")).date()
    return f"{today + timedelta(days=4 - today.weekday() + 7):%Y-%m-%d}T23:59"


def test_two_quick_clicks_and_a_second_tab_create_one_task(open_page: OpenPage, alice: Person, assigning: Flow) -> None:
    first = open_page(alice, f"/flows/{assigning.pk}/")
    say(first, ONE)
    expect(ended(first).locator("[data-card]")).to_be_visible()
    second = open_page(alice, first.url)
    card(first).get_by_role("button", name="创建任务").dblclick()
    expect(ended(first)).to_contain_text("已给王小明派任务")
    expect(second.locator(".turn")).to_have_count(2)
    expect(card(second)).to_contain_text("已创建")
    expect(card(second).get_by_role("button")).to_have_count(0)
    assert WorkTask.objects.count() == Action.objects.count() == 1


def test_an_answer_from_elsewhere_locks_the_card_here(open_page: OpenPage, alice: Person, assigning: Flow) -> None:
    page = open_page(alice, f"/flows/{assigning.pk}/")
    say(page, ONE)
    expect(ended(page).locator("[data-card]")).to_be_visible()
    answer = {"accept": False}
    assert alice.api.post(f"/api/actions/{Action.objects.get().pk}", json=answer).status_code == 202
    expect(card(page)).to_contain_text("已取消")
    expect(page.locator(".turn")).to_have_count(2)


def test_leaving_it_and_saying_so_in_words_decline_the_card(
    open_page: OpenPage, alice: Person, assigning: Flow
) -> None:
    page = open_page(alice, f"/flows/{assigning.pk}/")
    say(page, ONE)
    ended(page).get_by_role("button", name="取消").click()
    expect(ended(page)).to_contain_text("没有创建任务")
    expect(card(page)).to_contain_text("已取消")
    say(page, ONE)
    expect(ended(page).locator("[data-card]")).to_have_attribute("data-state", "pending")
    say(page, "不用了")
    expect(ended(page)).to_contain_text("没有创建任务")
    expect(card(page)).to_contain_text("已取消")
    page.reload()
    expect(page.locator("[data-card]")).to_contain_text(["已取消", "已取消"])
    expect(page.locator("[data-output]").last).to_be_in_viewport()
    expect(page.get_by_role("button", name="到最新消息")).to_be_hidden()
    assert not WorkTask.objects.exists()


def test_a_typed_name_shows_the_card_again_and_the_old_one_has_expired(
    open_page: OpenPage, cast: dict[str, Person], assigning: Flow
) -> None:
    page = open_page(cast["alice"], f"/flows/{assigning.pk}/")
    say(page, SENTENCE)
    expect(ended(page).locator("[data-card]")).to_be_visible()
    say(page, "王小明")
    expect(page.locator("[data-card]")).to_have_count(2)
    expect(page.locator("[data-card]").first).to_contain_text("已过期")
    expect(card(page).get_by_label("派给")).to_have_value(str(cast["bob"].user.pk))
    create(page)
    expect(ended(page)).to_contain_text("已给王小明派任务")


def test_an_expired_card_says_so_at_the_click_and_after_a_reload(
    open_page: OpenPage, alice: Person, assigning: Flow
) -> None:
    page = open_page(alice, f"/flows/{assigning.pk}/")
    page.route("**/api/turns/*", lambda route: route.abort())  # the page does not hear of it before the click
    say(page, ONE)
    expect(ended(page).locator("[data-card]")).to_be_visible()
    Action.objects.update(expires_at=timezone.now())
    create(page)
    expect(card(page).get_by_role("alert")).to_contain_text("这张卡片已过期")
    expect(card(page)).to_contain_text("已过期")
    page.reload()
    expect(card(page)).to_contain_text("已过期")


def test_a_mistake_keeps_what_was_typed(open_page: OpenPage, alice: Person, assigning: Flow) -> None:
    page = open_page(alice, f"/flows/{assigning.pk}/")
    say(page, ONE)
    expect(ended(page).locator("[data-card]")).to_be_visible()
    card(page).get_by_label("标题").fill("交年度报告")
    card(page).get_by_label("期限").fill("2020-01-01T09:00")
    create(page)
    expect(card(page).get_by_role("alert")).to_have_text("请选择将来的时间，或留空。")
    expect(card(page).get_by_label("期限")).to_be_focused()
    expect(card(page).get_by_label("标题")).to_have_value("交年度报告")
    card(page).get_by_label("期限").fill("2030-01-05T09:00")
    create(page)
    expect(ended(page)).to_contain_text("交年度报告")
    task = WorkTask.objects.get()
    assert f"{task.due_at:%Y-%m-%d %H:%M}" == "2030-01-05 01:00"  # nine o'clock in Shanghai


def test_without_a_mouse_on_a_phone(open_page: OpenPage, alice: Person, assigning: Flow) -> None:
    """S1."""
    page = open_page(alice, f"/flows/{assigning.pk}/", width=390)
    say(page, SENTENCE)
    expect(ended(page).locator("[data-card]")).to_be_visible()
    tab_to(page, "[data-card] select")
    page.keyboard.press("ArrowDown")
    tab_to(page, "[data-accept]")
    page.keyboard.press("Enter")
    expect(ended(page)).to_contain_text("派任务“交季度报告”")
    expect(page.locator("[data-card-state]")).to_be_focused()
    assert WorkTask.objects.count() == 1


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark"), (360, "light")])
def test_nothing_about_the_card_is_in_anybodys_way(
    open_page: OpenPage, alice: Person, assigning: Flow, width: int, scheme: Any
) -> None:
    """S1: open, answered and expired cards."""
    page = open_page(alice, f"/flows/{assigning.pk}/", width=width, height=1400)
    page.emulate_media(color_scheme=scheme)
    say(page, ONE)
    expect(ended(page).locator("[data-card]")).to_be_visible()
    create(page)
    expect(card(page)).to_contain_text("已创建")
    say(page, ONE)
    expect(ended(page).locator("[data-card]")).to_be_visible()
    Action.objects.filter(status="pending").update(expires_at=timezone.now())
    say(page, SENTENCE)
    expect(ended(page).locator("[data-card]")).to_be_visible()
    page.reload()
    expect(page.locator("[data-card]")).to_have_count(3)
    expect(page.locator("[data-card]").first.get_by_label("期限")).to_be_hidden()  # there is none
    PICTURES.mkdir(exist_ok=True)
    page.screenshot(path=PICTURES / f"confirm-card-{width}-{scheme}.png")
    assert not page.evaluate(SIDEWAYS)
    found = Axe().run(page).response["violations"]
    assert [rule["id"] for rule in found if rule["impact"] in ("serious", "critical")] == []


def test_a_result_that_was_interrupted_can_be_tried_again(open_page: OpenPage, alice: Person, assigning: Flow) -> None:
    """S4."""
    page = open_page(alice, f"/flows/{assigning.pk}/")
    say(page, ONE)
    expect(ended(page).locator("[data-card]")).to_be_visible()
    create(page)
    expect(card(page)).to_contain_text("已创建")
    expect(ended(page)).to_contain_text("已给王小明派任务")
    WorkTask.objects.all().delete()
    Turn.objects.filter(answered_action__isnull=False).update(status=TurnStatus.INTERRUPTED, output="")
    page.reload()
    expect(card(page)).to_contain_text("已确认")
    page.get_by_role("button", name="再试一次").click()
    expect(ended(page)).to_contain_text("已给王小明派任务")
    expect(card(page)).to_contain_text("已创建")
