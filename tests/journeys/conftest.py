"""A real Chromium in front of the running product."""

import os
from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from playwright.sync_api import Browser, Page, sync_playwright

from tests.journeys.chromium import FLAGS, find
from tests.people import Person

OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The browser that CHROMIUM_PATH names, else the one that is installed."""
    path = find()
    if path is None:
        if os.environ.get("REQUIRE_BROWSER"):
            pytest.fail("no Chromium: install one or name it in CHROMIUM_PATH")
        pytest.skip("no Chromium here: install one or name it in CHROMIUM_PATH")
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright's event loop counts as running in this thread, where Django would then refuse its ORM.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Browser, live: str) -> Iterator[OpenPage]:
    """`open_page(person, "/", width=390)` gives a page of a logged-in browser, in Chinese.

    The test fails when a page broke a rule of its content policy or a script threw.
    """
    contexts = []
    faults: list[str] = []

    def opened(person: Person, path: str = "/", *, width: int = 1280, height: int = 800) -> Page:
        context = chromium.new_context(
            base_url=live, locale="zh-CN", viewport={"width": width, "height": height}, color_scheme="light"
        )
        contexts.append(context)
        login = Client()
        login.force_login(person.user)
        context.add_cookies([{"name": "sessionid", "value": login.cookies["sessionid"].value, "url": live}])
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: faults.append(line.text) if "Content Security" in line.text else None)
        page.goto(path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []
