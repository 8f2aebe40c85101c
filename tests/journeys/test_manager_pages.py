"""P8, O2: what managers see in the admin, in a real browser: drawn, reachable, and a report from asking to sharing."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.utils import timezone
from playwright.sync_api import Page, expect

from profiles.aggregation import aggregate
from profiles.apps import MANAGERS
from profiles.models import EvaluationReport, ReportState, TagKind, TagStatus, UserProfile
from profiles.reports import lifecycle as reports
from profiles.reports.job import make_due_reports
from tests.journeys.conftest import OpenPage
from tests.journeys.test_every_page import looked_at
from tests.people import Person
from tests.profiles.managing import member, past_task, used
from tests.profiles.organisation import organisation
from tests.profiles.reporting import OCTOBER
from tests.profiles.test_profile_page import tag

pytestmark = pytest.mark.browser

DRAWN = "[...document.querySelectorAll('canvas')].every((canvas) => canvas.getBoundingClientRect().height > 100)"
COLOUR = "Chart.getChart(document.querySelector('[data-chart] canvas')).data.datasets[1].borderColor"


@pytest.fixture
def people(live: str) -> dict[str, User]:
    """The organisation, in which Bob has a past."""
    people = organisation()
    alice, bob = people["alice"], people["bob"]
    alice.is_staff = True
    alice.save()
    alice.groups.add(Group.objects.get(name=MANAGERS))
    for days in range(0, 60, 6):
        task = past_task(alice, bob, f"联调第 {days} 项", given=days + 5, due=days, done=days + 1 if days else None)
        task.events.create(actor=alice, field="created", at=timezone.now() - timedelta(days=days + 5))
        used(bob, days + 1)
    tag(bob, TagKind.TOPIC, "北斗项目", TagStatus.CONFIRMED)
    UserProfile.objects.filter(pk=people["dan"].pk).update(position="测试工程师，负责回归、压测和验收环境的日常维护")
    aggregate()
    return people


@pytest.fixture
def alice(people: dict[str, User], live: str) -> Person:
    return Person(people["alice"], live)


def do_jobs() -> None:
    """What a worker does; in a thread, because the browser's event loop runs in this one."""

    def work() -> None:
        make_due_reports()
        connection.close()

    with ThreadPoolExecutor(1) as worker:
        worker.submit(work).result()


def addresses(people: dict[str, User]) -> dict[str, str]:
    draft = reports.request_report(people["alice"], people["bob"].pk, OCTOBER)
    do_jobs()
    waiting = EvaluationReport.objects.create(
        requested_by=people["alice"], subject=people["dan"], period_start="2025-10-01", period_end="2025-10-31"
    )
    home = "/admin/profiles/evaluationreport/"
    return {
        "team": "/admin/",
        "member": member(people["bob"]),
        "new-member": member(people["dan"]),
        "reports": home,
        "report": f"{home}{draft.pk}/change/",
        "waiting": f"{home}{waiting.pk}/change/",
        "paper": f"{home}{draft.pk}/print/",
    }


@pytest.mark.parametrize(("width", "scheme", "language"), [(1440, "light", "zh"), (390, "dark", "en")])
def test_no_page_of_a_manager_puts_a_barrier_in_anybodys_way(
    open_page: OpenPage, people: dict[str, User], alice: Person, width: int, scheme: str, language: str
) -> None:
    """S1: on a desk by day in Chinese, on a phone by night in English; the pictures go to `screenshots/`."""
    page = open_page(alice, "/", width=width)
    page.emulate_media(color_scheme=scheme)
    chosen = {"name": "django_language", "value": "en" if language == "en" else "zh-hans", "url": alice.address}
    page.context.add_cookies([chosen])
    barriers: list[str] = []
    for name, address in addresses(people).items():
        page.goto(address)
        assert page.evaluate(DRAWN), name
        barriers += [f"{name}: {barrier}" for barrier in looked_at(page, f"manager-{name}-{width}-{scheme}-{language}")]
    assert barriers == []


def test_the_chart_follows_the_theme_and_its_numbers_are_a_table(open_page: OpenPage, alice: Person) -> None:
    page = open_page(alice, "/admin/")
    day = page.evaluate(COLOUR)
    page.evaluate("document.documentElement.classList.add('dark')")
    page.wait_for_function(f"({COLOUR}) !== '{day}'")
    rows = page.locator("[data-chart] tbody tr")
    expect(rows).to_have_count(12)
    expect(rows.first).not_to_be_visible()
    page.get_by_text("查看数字").press("Enter")
    expect(rows.first).to_be_visible()


def test_a_report_is_asked_for_watched_signed_and_shared(
    open_page: OpenPage, people: dict[str, User], alice: Person
) -> None:
    """P8: the page that waits shows the report as soon as it is made, without a click."""
    page = open_page(alice, "/admin/")
    page.get_by_role("link", name="王小明").first.click()
    page.get_by_label("上个月").check()
    page.get_by_role("button", name="生成报告").click()
    expect(page.get_by_role("heading", name="正在生成关于王小明的报告")).to_be_visible()
    expect(page.get_by_role("progressbar")).to_be_visible()
    do_jobs()
    expect(page.get_by_role("heading", name="关于王小明的报告", exact=True)).to_be_visible(timeout=20_000)
    decided(page, "签发", ReportState.SIGNED)
    decided(page, "分享", ReportState.SHARED)
    expect(page.get_by_role("button", name="分享")).to_have_count(0)


def decided(page: Page, name: str, state: ReportState) -> None:
    """The button asks once; without a yes nothing happens."""
    before = EvaluationReport.objects.get().state
    page.get_by_role("button", name=name).click()
    page.get_by_role("button", name="暂不").press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert EvaluationReport.objects.get().state == before
    page.get_by_role("button", name=name).press("Enter")
    page.get_by_role("dialog").get_by_role("button", name=name).click()
    expect(page.locator(f"article[data-state={state}]")).to_be_visible()


def test_work_is_given_to_the_person_whose_page_it_was(
    open_page: OpenPage, people: dict[str, User], alice: Person
) -> None:
    page = open_page(alice, member(people["bob"]))
    page.get_by_role("link", name="派任务").click()
    expect(page.locator("select[name=assignee]")).to_have_value(str(people["bob"].pk))
    page.goto(f"/tasks/?for={people['carol'].pk}")
    expect(page.locator("select[name=assignee]")).to_have_value(str(people["alice"].pk))


def test_a_report_fits_paper(open_page: OpenPage, people: dict[str, User], alice: Person) -> None:
    """A4, 16 mm of margin: 178 mm are 672 px."""
    page = open_page(alice, addresses(people)["paper"], width=672)
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("document.documentElement.scrollWidth") <= 672
    expect(page.get_by_role("button", name="打印")).not_to_be_visible()
    assert page.locator(".report").evaluate("(part) => getComputedStyle(part).color") == "rgb(35, 33, 29)"
    assert page.locator("main").evaluate("(part) => getComputedStyle(part).backgroundColor") == "rgb(255, 255, 255)"
