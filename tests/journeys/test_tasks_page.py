"""The tasks page in a real browser: giving, doing, changing and cancelling work, by mouse, keyboard and phone (P5)."""

import pytest
from playwright.sync_api import expect

from profiles.models import UserProfile, WorkStatus, WorkTask
from tests.factories import UserFactory
from tests.journeys.conftest import OpenPage
from tests.journeys.test_keyboard import tab_to
from tests.people import Person

pytestmark = pytest.mark.browser


@pytest.fixture
def alice(bob: Person) -> Person:
    """Bob's manager."""
    boss = Person(UserFactory(username="alice"), bob.address)
    UserProfile.objects.create(user=boss.user, display_name="张岚")
    UserProfile.objects.filter(user=bob.user).update(manager=boss.user)
    return boss


def give(by: Person, to: Person, title: str) -> None:
    assert by.api.post("/api/tasks", json={"title": title, "assignee": to.user.pk}).status_code == 201


def test_work_is_given_arrives_live_and_is_done(open_page: OpenPage, alice: Person, bob: Person) -> None:
    """P5, S8: the main journey."""
    his, hers = open_page(bob, "/"), open_page(alice, "/tasks/")
    expect(his.get_by_role("img", name="新任务")).to_be_hidden()
    hers.get_by_role("button", name="新任务").click()
    hers.get_by_label("标题").fill("交季度报告")
    hers.get_by_label("派给").select_option("王小明")
    hers.get_by_label("期限").fill("2030-12-11")
    hers.get_by_role("button", name="派出").click()
    expect(hers.get_by_role("link", name="团队工作")).to_have_attribute("aria-current", "page")
    expect(hers.get_by_role("heading", name="王小明")).to_be_visible()
    expect(his.get_by_role("img", name="新任务")).to_be_visible()
    his.get_by_role("link", name="任务").click()
    row = his.locator(".task", has_text="交季度报告")
    expect(row).to_contain_text("2030-12-11")
    expect(row).to_contain_text("张岚派的")
    row.get_by_role("button", name="“交季度报告”已完成").click()
    expect(his.get_by_text("没有要做的事")).to_be_visible()
    his.get_by_role("link", name="完成", exact=True).click()
    expect(row).to_be_visible()
    assert WorkTask.objects.get().status == WorkStatus.DONE


def test_who_looks_at_the_page_is_told_of_new_work(open_page: OpenPage, alice: Person, bob: Person) -> None:
    page = open_page(bob, "/tasks/")
    expect(page.get_by_text("有人给您派了任务。")).to_be_hidden()
    give(alice, bob, "交季度报告")
    page.get_by_role("link", name="查看").click()
    expect(page.locator(".task")).to_have_count(1)


def test_a_task_is_edited_and_cancelled(open_page: OpenPage, alice: Person, bob: Person) -> None:
    """P5: cancelling asks first."""
    give(alice, bob, "交季度报告")
    page = open_page(alice, "/tasks/?tab=team")
    row = page.locator(".task")
    row.locator("summary").click()
    row.get_by_role("button", name="编辑").click()
    expect(page.get_by_label("派给")).to_be_hidden()
    page.get_by_label("标题").fill("交年度报告")
    page.get_by_role("button", name="保存").click()
    expect(row).to_contain_text("交年度报告")
    expect(row.locator("summary")).to_be_focused()
    row.locator("summary").click()
    expect(row).to_contain_text("原来是“交季度报告”")
    row.get_by_role("button", name="取消任务").click()
    page.get_by_role("dialog").get_by_role("button", name="取消", exact=True).click()
    assert WorkTask.objects.get().status == WorkStatus.OPEN
    row.get_by_role("button", name="取消任务").click()
    page.get_by_role("dialog").get_by_role("button", name="取消任务").click()
    expect(row).to_have_count(0)
    assert WorkTask.objects.get().status == WorkStatus.CANCELLED


def test_a_mistake_keeps_what_was_typed(open_page: OpenPage, alice: Person, bob: Person) -> None:
    page = open_page(alice, "/tasks/")
    page.get_by_role("button", name="新任务").click()
    page.get_by_label("标题").fill("交季度报告")
    page.get_by_label("派给").select_option("王小明")
    page.get_by_label("时间").fill("09:30")
    page.get_by_role("button", name="派出").click()
    expect(page.get_by_role("alert")).to_have_text("请同时选择日期。")
    expect(page.get_by_label("标题")).to_have_value("交季度报告")
    expect(page.get_by_label("派给")).to_have_value(str(bob.user.pk))
    page.get_by_label("期限").fill("2030-12-11")
    page.get_by_role("button", name="派出").click()
    expect(page.locator(".task")).to_have_count(1)


def test_without_a_mouse(open_page: OpenPage, bob: Person) -> None:
    """S1: on a phone's width too, where the sidebar is a drawer."""
    page = open_page(bob, "/tasks/", width=390)
    tab_to(page, "[data-new]")
    page.keyboard.press("Enter")
    expect(page.get_by_label("标题")).to_be_focused()
    page.keyboard.type("看完发布说明")
    page.keyboard.press("Enter")
    expect(page.locator(".task")).to_have_count(1)
    tab_to(page, ".task summary")
    page.keyboard.press("Enter")
    tab_to(page, ".task details [value=in_progress]")
    page.keyboard.press("Enter")
    expect(page.locator(".task")).to_contain_text("进行中")
    page.get_by_role("button", name="新任务").press("Enter")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
