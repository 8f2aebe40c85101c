"""S1: the whole journey without a mouse."""

import pytest
from playwright.sync_api import Page, expect

from flows.models import Flow
from tests.doubles import Answer, ModelServer
from tests.factories import PASSWORD
from tests.journeys.conftest import OpenPage
from tests.people import Person

pytestmark = pytest.mark.browser

MOST_STEPS = 60


def tab_to(page: Page, selector: str) -> None:
    """Presses Tab until the focus stands on what `selector` names, as a person would."""
    for _ in range(MOST_STEPS):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the keyboard does not reach {selector}")


def test_log_in_choose_a_flow_ask_and_copy_the_answer(
    open_page: OpenPage, bob: Person, flow: Flow, model: ModelServer
) -> None:
    model.enqueue(Answer("五月三日。"))
    page = open_page(bob, "/")
    page.context.clear_cookies(name="sessionid")
    page.goto("/accounts/login/")
    tab_to(page, "[name=username]")
    page.keyboard.type(bob.user.username)
    tab_to(page, "[name=password]")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{bob.address}/")
    tab_to(page, f"a[href^='/flows/{flow.pk}/']")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{bob.address}/flows/{flow.pk}/**")
    tab_to(page, "#input")
    page.keyboard.type("北斗什么时候上线？")
    page.keyboard.press("Enter")
    turn = page.locator(".turn").last
    expect(turn).to_have_attribute("data-status", "complete")
    expect(turn).to_contain_text("五月三日。")
    expect(page.locator("#input")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement !== document.body"), "there is a way back to the answer"


def test_every_control_that_has_the_focus_can_be_seen_to_have_it(open_page: OpenPage, bob: Person, flow: Flow) -> None:
    page = open_page(bob, f"/flows/{flow.pk}/?new=1")
    page.locator("body").press("Tab")
    for _ in range(12):
        outlined = page.evaluate(
            "() => { const style = getComputedStyle(document.activeElement);"
            " return style.outlineStyle !== 'none' || style.boxShadow !== 'none'"
            " || document.activeElement.matches('textarea, body') }"
        )
        assert outlined, page.evaluate("document.activeElement.outerHTML")
        page.keyboard.press("Tab")
