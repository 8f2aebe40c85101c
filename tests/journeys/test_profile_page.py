"""The profile page in a real browser: deciding what is right, by mouse and by keyboard (P2, P4, S8)."""

import pytest
from playwright.sync_api import expect

from memory.remembering import remember
from profiles.models import ProfileTag, TagKind, TagStatus, tag_key
from tests.journeys.conftest import OpenPage
from tests.journeys.test_keyboard import tab_to
from tests.people import Person

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
