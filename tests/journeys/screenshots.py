"""Takes the pictures of the README from the running product, so that they stay true.

    make screenshots        # writes docs/img/*.png; needs Chromium and a Chinese font

It starts the product on an empty database with the demo organisation, logs in as bob and talks to the demo model; the
manager's first page of the admin is alice's.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from config.demo.people import PASSWORD
from config.home import free_port
from config.supervisor import answers
from tests.journeys.chromium import FLAGS, find
from tests.waiting import eventually

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "img"
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
LOCALES = {"zh": "zh-CN", "en": "en-US"}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with product() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find(), args=FLAGS)
        for language in LOCALES:
            chat(open_page(browser, address, language), FOLDER / f"chat-{language}.png", language)
            team(open_page(browser, address, language, person="alice"), FOLDER / f"team-{language}.png")
        catalogue = open_page(browser, address, "zh", theme="dark")
        catalogue.screenshot(path=FOLDER / "catalogue-dark.png")
        phone = open_page(browser, address, "zh", viewport=PHONE)
        chat(phone, FOLDER / "chat-phone.png", "zh")
        browser.close()


def open_page(
    browser: Browser,
    address: str,
    language: str,
    *,
    person: str = "bob",
    theme: str = "light",
    viewport: dict[str, int] = DESKTOP,
) -> Page:
    """The catalogue, as this person has it."""
    context = browser.new_context(
        base_url=address,
        locale=LOCALES[language],
        color_scheme=theme,
        viewport=viewport,
        timezone_id="Asia/Shanghai",
    )
    page = context.new_page()
    page.goto("/accounts/login/")
    page.fill("[name=username]", person)
    page.fill("[name=password]", PASSWORD)
    page.press("[name=password]", "Enter")
    page.wait_for_url(f"{address}/")
    return page


def team(page: Page, path: Path) -> None:
    """How a manager's team is doing, at one look."""
    page.goto("/admin/")
    expect(page.locator("canvas")).to_be_visible()
    page.set_viewport_size({"width": 1440, "height": 900})
    page.screenshot(path=path)


def chat(page: Page, path: Path, language: str) -> None:
    """A question about what was said earlier, answered, then photographed."""
    title = {"zh": "北斗项目的上线风险", "en": "Apollo launch moved to May"}[language]
    question = {"zh": "AB-1203 什么时候到货？", "en": "Who owns the Apollo launch?"}[language]
    page.goto(page.locator("a", has_text=title).first.get_attribute("href") or "/")
    turns = page.locator(".turn")
    before = turns.count()
    box = page.locator("#input")
    box.fill(question)
    box.press("Enter")
    expect(turns).to_have_count(before + 1)
    expect(turns.last).to_have_attribute("data-status", "complete", timeout=30_000)
    page.screenshot(path=path)


@contextmanager
def product() -> Iterator[str]:
    """The product on the servers of the environment, with the demo organisation."""
    for command in ("migrate", "seed_demo"):
        subprocess.run([sys.executable, "manage.py", command, "-v0"], check=True)
    port = free_port(0)
    command = [sys.executable, "-m", "uvicorn", "config.asgi:application", "--port", str(port)]
    with subprocess.Popen([*command, "--log-level", "warning"]) as web:
        address = f"http://127.0.0.1:{port}"
        try:
            eventually(lambda: answers(port), within=60)
            yield address
        finally:
            web.terminate()


if __name__ == "__main__":
    main()
