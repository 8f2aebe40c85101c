"""S1: every page, on a desk and on a phone, by day and by night, in both languages: photographed and free of barriers.

The pictures go to `screenshots/`, which is where to look after a change of the templates or styles.
"""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from flows.models import Flow
from memory.manager import MemoryManager
from memory.models import Conversation
from tests.factories import ConversationFactory, TurnFactory
from tests.journeys.conftest import OpenPage
from tests.people import Person

pytestmark = pytest.mark.browser

PICTURES = Path(__file__).resolve().parents[2] / "screenshots"
LOOKS = [
    (width, scheme, language) for width in (1280, 360) for scheme in ("light", "dark") for language in ("zh", "en")
]
SIDEWAYS = (
    "[document.documentElement, ...document.querySelectorAll('main')].some((box) => box.scrollWidth > box.clientWidth)"
)
"""Whether anything stands out at the side, be it cut off there."""
ANSWER = "结论：**可以**。\n\n| 项 | 期限 |\n|---|---|\n| 联调 | 12-06 |\n\n```python\nprint('你好')\n```\n\n- 一\n"


@pytest.fixture
def conversation(bob: Person, flow: Flow) -> Conversation:
    """A conversation with every part that an answer can have, one failed turn included."""
    conversation: Conversation = ConversationFactory(user=bob.user, flow_id=flow.pk, title="北斗项目的上线风险")
    TurnFactory(
        conversation=conversation, input="北斗能按期上线吗？", output=ANSWER, memory_used={"missing": ["hot_copy"]}
    )
    TurnFactory(conversation=conversation, output="说到一半", status="stopped")
    TurnFactory(conversation=conversation, output="", status="failed", error_code="model_timeout")
    return conversation


@pytest.mark.parametrize(("width", "scheme", "language"), LOOKS)
def test_no_page_puts_a_barrier_in_anybodys_way(
    open_page: OpenPage, bob: Person, conversation: Conversation, width: int, scheme: str, language: str
) -> None:
    shared = MemoryManager().share_session(bob.user, conversation.pk)
    page = open_page(bob, "/", width=width)
    page.emulate_media(color_scheme=scheme)
    page.context.add_cookies(
        [{"name": "django_language", "value": "en" if language == "en" else "zh-hans", "url": bob.address}]
    )
    addresses = {
        "catalogue": "/",
        "chat": f"/flows/{conversation.flow_id}/{conversation.pk}/",
        "new-chat": f"/flows/{conversation.flow_id}/?new=1",
        "shared": f"/shared/{shared.token}/",
        "missing": "/flows/999999/",
    }
    barriers: list[str] = []
    for name, address in addresses.items():
        page.goto(address)
        barriers += [f"{name}: {barrier}" for barrier in looked_at(page, f"{name}-{width}-{scheme}-{language}")]
    page.context.clear_cookies(name="sessionid")
    page.goto("/accounts/login/")
    barriers += [f"login: {barrier}" for barrier in looked_at(page, f"login-{width}-{scheme}-{language}")]
    assert barriers == []


def looked_at(page: Page, name: str) -> list[str]:
    """Photographs the page; what of it is a serious barrier, in words."""
    PICTURES.mkdir(exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png")
    wide = page.evaluate(SIDEWAYS)
    found = Axe().run(page).response["violations"]
    serious = [rule for rule in found if rule["impact"] in ("serious", "critical")]
    words = [f"{rule['id']} at {rule['nodes'][0]['target']}" for rule in serious]
    return words + (["it scrolls sideways"] if wide else [])
