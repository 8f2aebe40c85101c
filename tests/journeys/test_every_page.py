"""S1: every page, on a desk and on a phone, by day and by night, in both languages: photographed and free of barriers.

The pictures go to `screenshots/`, which is where to look after a change of the templates or styles.
"""

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.db import connection
from django.utils import timezone
from playwright.sync_api import Page

from flows.models import Flow
from memory.manager import MemoryManager
from memory.models import Conversation
from memory.remembering import remember
from profiles.aggregation import aggregate
from profiles.models import EvaluationReport, FlowUse, Look, ProfileTag, Sight, TagKind, TagStatus, UserProfile, tag_key
from profiles.reports import lifecycle as reports
from tests.factories import ConversationFactory, TurnFactory, UserFactory
from tests.journeys.conftest import OpenPage
from tests.people import Person
from tests.profiles.reporting import busy_october, made

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
    add_tasks(bob)
    add_tags(bob)
    with ThreadPoolExecutor(1) as apart:  # what tells open pages may not run in the thread of Playwright's loop
        report = apart.submit(add_report, bob).result()
    page = open_page(bob, "/", width=width)
    page.emulate_media(color_scheme=scheme)
    page.context.add_cookies(
        [{"name": "django_language", "value": "en" if language == "en" else "zh-hans", "url": bob.address}]
    )
    addresses = {
        "catalogue": "/",
        "chat": f"/flows/{conversation.flow_id}/{conversation.pk}/",
        "new-chat": f"/flows/{conversation.flow_id}/?new=1",
        "tasks": "/tasks/",
        "team-tasks": "/tasks/?tab=team&show=all",
        "shared": f"/shared/{shared.token}/",
        "memory": "/memory/",
        "profile": "/profile/",
        "report": f"/profile/reports/{report.pk}/",
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


def test_what_stands_in_a_row_stands_in_line(open_page: OpenPage, bob: Person) -> None:
    bob.user.is_staff = True
    bob.user.save()
    icons = open_page(bob, "/").locator(".me svg:visible")
    assert icons.count() == 3
    middles = icons.evaluate_all(
        "all => all.map(one => one.getBoundingClientRect()).map(box => box.y + box.height / 2)"
    )
    assert max(middles) - min(middles) < 1


def test_a_page_with_little_on_it_is_as_high_as_its_window(open_page: OpenPage, bob: Person) -> None:
    page = open_page(bob, "/memory/")
    halves = page.locator(".half").evaluate_all("all => all.map(half => half.getBoundingClientRect().bottom)")
    assert halves == [800, 800]


def add_tasks(bob: Person) -> None:
    """Tasks in every state: new, late, taken up, done, cancelled; and one that he gave to somebody."""
    boss, dan = (Person(UserFactory(username=name), bob.address) for name in ("alice", "dan"))
    UserProfile.objects.create(user=boss.user, display_name="张岚")
    UserProfile.objects.filter(user=bob.user).update(manager=boss.user)
    UserProfile.objects.create(user=dan.user, display_name="李小明", manager=bob.user)
    late, soon = ((timezone.now() + timedelta(days=days)).isoformat() for days in (-3, 4))
    jobs = (
        (boss, bob, "季度报告的后端部分", soon, None),
        (boss, bob, "写一页 AB-1203 到货推迟的影响，给顾总看一页就够，下周的例会上要用", late, None),
        (boss, bob, "北斗项目后端联调收尾", soon, "in_progress"),
        (bob, bob, "整理登录超时的复盘笔记", None, "done"),
        (bob, dan, "压测报告", late, None),
        (bob, dan, "搭好验收环境", soon, "done"),
        (bob, dan, "梳理线上告警", None, "cancelled"),
    )
    for creator, assignee, title, due, moved in jobs:
        body = {"title": title, "assignee": assignee.user.pk, "due_at": due, "description": "先用模拟接口跑通。"}
        task = creator.api.post("/api/tasks", json=body).json()
        mover = creator if moved == "cancelled" else assignee
        assert not moved or mover.api.patch(f"/api/tasks/{task['id']}", json={"status": moved}).status_code == 200


def add_tags(bob: Person) -> None:
    """Tags in every state, figures, and somebody who looked."""
    for number, status in enumerate(TagStatus):
        for kind in TagKind:
            value = f"{kind.label} {number}，说得再详细一些也不换行"
            tag = ProfileTag.objects.create(
                user=bob.user, kind=kind, value=value[:40], key=tag_key(value), status=status, count=3 + number
            )
            tag.evidence.add(remember(bob.user, f"北斗项目联调先列清单，第{number}次。"))
    for number in range(12):
        ids = {"turn_id": uuid.uuid4(), "session_id": uuid.uuid4()}
        FlowUse.objects.create(user=bob.user, flow_id=number % 3, flow_name=f"流程 {number % 3}", **ids)
    aggregate()
    manager = UserProfile.objects.get(pk=bob.user.pk).manager
    assert manager
    Look.objects.record(manager, [bob.user.pk], sight=Sight.PROFILE)


def add_report(bob: Person) -> EvaluationReport:
    """A report that was shared, with claims, evidence of every kind, and an answer."""
    boss = UserProfile.objects.get(pk=bob.user.pk).manager
    assert boss
    busy_october(boss, bob.user)
    report = made(boss, bob.user)
    work = [item["ref"] for item in report.evidence if item["kind"] == "work"]
    claims = (
        (f"按期完成了两项工作 [{work[2]}] [{work[3]}]，首项当天就有了结果。", work[2:4]),
        (f"有一项在到期之后才完成 [{work[1]}]，期末还有一项没有完成。", [work[1], work[0], "M7"]),
        ("完成率为 75% [M5]。", ["M5"]),
    )
    narrative = [{"text": text, "refs": refs} for text, refs in claims]
    EvaluationReport.objects.update(narrative=narrative, narrative_note="", struck_claims=2, model="qwen-plus")
    reports.sign(boss, report.pk)
    reports.share(boss, report.pk)
    reports.respond(bob.user, report.pk, "晚了的那项是因为验收环境推迟。\n没做的那项已经和张岚说好改期。")
    connection.close()
    return report


def looked_at(page: Page, name: str) -> list[str]:
    """Photographs the page; what of it is a serious barrier, in words."""
    PICTURES.mkdir(exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png")
    wide = page.evaluate(SIDEWAYS)
    found = Axe().run(page).response["violations"]
    serious = [rule for rule in found if rule["impact"] in ("serious", "critical")]
    words = [f"{rule['id']} at {rule['nodes'][0]['target']}" for rule in serious]
    return words + (["it scrolls sideways"] if wide else [])
