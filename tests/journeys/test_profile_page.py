"""The profile page in a real browser: deciding what is right, by mouse and by keyboard (P2, P4, S8)."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from playwright.sync_api import expect

from memory.remembering import remember
from profiles.models import ProfileTag, TagKind, TagStatus, UserProfile, tag_key
from profiles.reports import lifecycle as reports
from tests.journeys.conftest import OpenPage
from tests.journeys.test_keyboard import tab_to
from tests.people import Person, add_person
from tests.profiles.reporting import made

pytestmark = pytest.mark.browser


@pytest.fixture(autouse=True)
def _tags(bob: Person) -> None:
    """Two suggestions, from one memory."""
    memory = remember(bob.user, "北斗项目联调先列清单。")
    for value in ("有条有理", "拖拉"):
        tag = ProfileTag.objects.create(user=bob.user, kind=TagKind.STYLE, value=value, key=tag_key(value), count=1)
        tag.evidence.add(memory)


def test_what_is_right_is_confirmed_shared_and_withheld(open_page: OpenPage, bob: Person) -> None:
    page = open_page(bob, "/")
    page.get_by_role("link", name="王小明").click()
    seen = page.locator(".manager-view")
    expect(page.get_by_role("heading", name="发现")).to_contain_text("2 条待您确认")
    expect(seen).not_to_contain_text("有条有理")
    page.get_by_role("button", name="“有条有理”没错", exact=True).click()
    expect(seen).to_contain_text("有条有理")
    shared = page.get_by_role("switch", name="上级能看到“有条有理”")
    expect(shared).to_have_attribute("aria-checked", "true")
    shared.click()
    expect(shared).to_have_attribute("aria-checked", "false")
    expect(seen).not_to_contain_text("有条有理")
    page.get_by_role("button", name="“拖拉”不对").click()
    page.get_by_text("已否定的").click()
    expect(page.locator(".rejected")).to_contain_text("拖拉")
    assert ProfileTag.objects.get(value="拖拉").status == TagStatus.REJECTED


def test_by_keyboard_alone_and_from_the_tag_to_its_memory(open_page: OpenPage, bob: Person) -> None:
    page = open_page(bob, "/profile/", width=360)
    tab_to(page, "button[aria-label='“有条有理”没错']")
    page.keyboard.press("Enter")
    expect(page.get_by_role("switch", name="上级能看到“有条有理”")).to_be_visible()
    page.locator(".tag", has_text="有条有理").get_by_text("依据与更正").click()
    page.get_by_role("link", name="北斗项目联调先列清单").first.click()
    expect(page.get_by_text("北斗项目联调先列清单。")).to_be_visible()


def test_a_report_that_is_shared_shows_on_every_open_page_and_is_answered(
    open_page: OpenPage, bob: Person, live: str
) -> None:
    """P7, S8: the way to it appears without a reload and goes once it was opened."""

    def signed() -> tuple[Person, str]:
        boss = add_person("alice", live)
        UserProfile.objects.filter(user=bob.user).update(manager=boss.user)
        report = made(boss.user, bob.user)
        reports.sign(boss.user, report.pk)
        connection.close()
        return boss, f"/api/memory/profile/report/{report.pk}"

    with ThreadPoolExecutor(1) as apart:  # what tells open pages may not run in the thread of Playwright's loop
        boss, address = apart.submit(signed).result()
    page = open_page(bob, "/tasks/")
    way = page.get_by_role("link", name="新的评估报告")
    page.wait_for_load_state("networkidle")
    expect(way).to_be_hidden()
    assert boss.api.post(f"{address}/share").status_code == 200
    expect(way).to_be_visible()
    way.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("王小明")
    expect(way).to_be_hidden()
    page.get_by_label("您对这份报告想说的话").fill("没有人给我派任务。")
    page.get_by_role("button", name="保存").click()
    expect(page.get_by_role("heading", name="更正回应")).to_be_visible()
    expect(page.locator(".report-response")).to_have_text("没有人给我派任务。")
