"""P8: somebody's page in the admin is what `manager_view` gives, with work and charts beside it, and nothing else."""

import re
from datetime import date, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from profiles import work
from profiles.aggregation import aggregate
from profiles.manager_view import as_manager_sees
from profiles.models import Look, Sight, TagKind, TagStatus, UserProfile, WorkEvent, WorkStatus
from tests.profiles.managing import manager, member, past_task, used
from tests.profiles.organisation import report_to
from tests.profiles.test_profile_page import tag
from tests.profiles.test_tasks_page import browser
from tests.profiles.test_team_page import words

Cast = dict[str, User]


@pytest.fixture
def alice(people: Cast) -> Client:
    return manager(people["alice"])


def context(client: Client, person: User, query: str = "") -> Any:
    return client.get(member(person) + query).context


def test_it_is_exactly_what_a_manager_sees(people: Cast, alice: Client) -> None:
    bob = people["bob"]
    tag(bob, TagKind.STYLE, "注重细节", TagStatus.CONFIRMED)
    tag(bob, TagKind.TOPIC, "北斗项目", TagStatus.CONFIRMED)
    used(bob, 3, "周报生成")
    past_task(people["alice"], bob, "做完了", given=4, done=2)
    aggregate()
    shown = context(alice, bob)
    assert shown["seen"] == as_manager_sees(bob)
    page = words(alice, member(bob))
    assert "<title> 王小明 |" in re.sub(r"\s+", " ", alice.get(member(bob)).content.decode())
    for told in ("研发中心", "注重细节", "北斗项目", "周报生成", "100%", "of 1 tasks", "2.0 days"):
        assert told in page, told


def test_the_look_is_noted_as_one_at_the_profile(people: Cast, alice: Client) -> None:
    alice.get(member(people["bob"]))
    assert [(look.subject, look.sight) for look in Look.objects.all()] == [(people["bob"], Sight.PROFILE)]


def test_the_chart_tells_what_was_given_done_and_late_by_week(people: Cast, alice: Client) -> None:
    boss, bob = people["alice"], people["bob"]
    past_task(boss, bob, "迟了两周", given=40, due=22, done=5)
    off = past_task(boss, bob, "取消了", given=40, due=30)
    work.change(boss, off.pk, {"status": WorkStatus.CANCELLED})
    WorkEvent.objects.filter(task=off).update(at=timezone.now() - timedelta(days=29))
    past_task(boss, bob, "还迟着", given=9, due=1)
    given, done, late = context(alice, bob)["chart"].series
    assert (sum(given.values), sum(done.values)) == (3, 1)
    assert late.values[-1] == 1, "only what is unfinished is late now"
    assert late.values[-3] == 1, "what was done later was late then"
    assert late.values[0] == 0


@pytest.mark.parametrize(
    ("query", "key", "weeks"),
    [("", "12w", 12), ("?show=4w", "4w", 4), ("?show=52w", "52w", 52), ("?show=x", "12w", 12), ("?page=x", "12w", 12)],
)
def test_the_period_is_chosen(people: Cast, alice: Client, query: str, key: str, weeks: int) -> None:
    shown = context(alice, people["bob"], query)
    assert (shown["asked"].key, len(shown["chart"].labels)) == (key, weeks)


def test_own_days_are_taken_or_refused_with_the_reason(people: Cast, alice: Client) -> None:
    past_task(people["alice"], people["bob"], "旧的", given=40)
    today = timezone.localdate()
    days = f"?show=own&from={today - timedelta(days=45)}&to={today - timedelta(days=35)}"
    shown = context(alice, people["bob"], days)
    assert (shown["asked"].period.end, sum(shown["chart"].series[0].values)) == (today - timedelta(days=35), 1)
    for wrong in (
        "from=2026-02-30&to=2026-03-01",
        "from=x&to=",
        "from=2026-03-02&to=2026-03-01",
        "to=9999-12-31&from=1-1-1",
    ):
        assert context(alice, people["bob"], f"?show=own&{wrong}")["asked"].fault, wrong


def test_the_timeline_tells_days_and_never_hours(people: Cast, alice: Client) -> None:
    boss, bob = people["alice"], people["bob"]
    task, _is_new = work.give(boss, work.NewTask("季度报告", bob.pk))
    work.change(bob, task.pk, {"status": WorkStatus.DONE})
    ids = [str(used(bob, 2, "周报生成").session_id) for _ in range(3)]
    body = alice.get(member(bob)).content.decode()
    timeline = body[body.index('id="timeline"') :]
    told = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", timeline[: timeline.index("</section>")]))
    assert "季度报告 张岚 gave the task." in told
    assert "王小明: to do → done" in told
    assert "周报生成 3 times" in told
    assert not re.search(r"\d\d:\d\d", told)
    assert not [session for session in ids if session in body]


def test_lists_are_punctuated_as_the_language_has_it(people: Cast) -> None:
    bob = people["bob"]
    for flow, name in ((7, "周报生成"), (7, "周报生成"), (8, "翻译润色")):
        used(bob, 2, name, flow_id=flow)
    told = words(manager(people["alice"], "zh-hans"), member(bob)).replace(" ", "")
    assert "用过的流程：周报生成2次、翻译润色1次" in told


def test_days_are_the_persons_own_whoever_looks(people: Cast, alice: Client) -> None:
    """A manager who changes their own zone would otherwise learn the hour."""
    bob = people["bob"]
    UserProfile.objects.filter(pk=people["alice"].pk).update(time_zone="Pacific/Kiritimati")
    at = timezone.now().replace(hour=15, minute=30) - timedelta(days=3)  # 23:30 in Shanghai
    used(bob, 3, at=at)
    days = context(alice, bob)["days"]
    assert [day.day for day in days] == [timezone.localdate(at, timezone.get_default_timezone())]


def test_of_a_day_that_is_not_over_no_flow_is_told(people: Cast, alice: Client) -> None:
    used(people["bob"], 0)
    assert not context(alice, people["bob"])["days"].object_list


def test_the_person_sees_the_days_that_the_manager_sees(people: Cast, alice: Client) -> None:
    """P4: the page "what my manager sees" is exactly that."""
    bob = people["bob"]
    for days in (2, 2, 5):
        used(bob, days)
    theirs = {day.day: day.flows for day in context(alice, bob)["days"] if day.flows}
    assert browser(bob).get("/profile/").context["seen_days"] == theirs
    assert [len(theirs), sum(times for flows in theirs.values() for _name, times in flows)] == [2, 3]


def test_what_is_out_of_the_managers_sight_is_not_in_the_timeline(people: Cast, alice: Client) -> None:
    """Bob gave work to Frank while Frank worked for him."""
    report_to(people["frank"], people["bob"])
    work.give(people["bob"], work.NewTask("方恺的活", people["frank"].pk))
    assert "方恺的活" in words(alice, member(people["bob"]))
    report_to(people["frank"], None)
    assert "方恺的活" not in words(alice, member(people["bob"]))


def test_a_long_timeline_has_pages_that_keep_the_period(people: Cast, alice: Client) -> None:
    for days in range(1, 25):
        used(people["bob"], days)
    page = alice.get(member(people["bob"]) + "?show=52w").content.decode()
    [earlier] = re.findall(r'href="([^"]+page=2)#timeline"', page)
    assert earlier == "?show=52w&amp;page=2"
    assert len(context(alice, people["bob"], "?show=52w&page=2")["days"].object_list) == 10


def test_it_takes_as_many_statements_for_much_work_as_for_little(people: Cast, alice: Client) -> None:
    boss, bob = people["alice"], people["bob"]
    counted = []
    for number in (1, 30):
        for _ in range(number):
            work.change(bob, work.give(boss, work.NewTask("x", bob.pk))[0].pk, {"status": WorkStatus.IN_PROGRESS})
            used(bob, 2)
        alice.get(member(bob))
        with CaptureQueriesContext(connection) as statements:
            alice.get(member(bob))
        counted.append(len(statements))
    assert counted[0] == counted[1]


def test_a_new_person_is_met_with_what_will_be_there(people: Cast, alice: Client) -> None:
    page = words(alice, member(people["bob"]))
    for told in (
        "No task was given, done or overdue in these weeks.",
        "Topics appear here once the person has confirmed and shared them.",
        "There is no report yet.",
        "Nothing happened in this period.",
        "not enough data",
    ):
        assert told in page, told


def test_work_is_given_from_here_to_those_who_can_log_in(people: Cast, alice: Client) -> None:
    bob = people["bob"]
    assert f"/tasks/?tab=team&amp;for={bob.pk}" in alice.get(member(bob)).content.decode()
    User.objects.filter(pk=bob.pk).update(is_active=False)
    assert "&amp;for=" not in alice.get(member(bob)).content.decode()


@pytest.mark.parametrize("who", ["alice", "root"])
def test_others_have_the_plain_page_of_the_directory(people: Cast, alice: Client, root: Client, who: str) -> None:
    """One's own row, and what a superuser sees of somebody who does not report to them."""
    reader, person = (alice, people["alice"]) if who == "alice" else (root, people["bob"])
    page = reader.get(member(person))
    assert page.status_code == 200
    assert "timeline" not in page.content.decode()


def test_the_weeks_of_a_year_are_counted_in_the_persons_zone(people: Cast, alice: Client) -> None:
    """A task of Monday 00:30 in Shanghai belongs to the week that begins, not to the Sunday of UTC."""
    monday = date(2026, 1, 5)
    task = past_task(people["alice"], people["bob"], "周一", given=0)
    type(task).objects.filter(pk=task.pk).update(created_at="2026-01-04T16:30Z")
    if timezone.localdate() < monday:
        pytest.skip("that Monday lies ahead")
    chart = context(alice, people["bob"], "?show=own&from=2025-12-29&to=2026-01-06")["chart"]
    assert dict(chart.rows) == {"12-29": [0, 0, 0], "01-05": [1, 0, 0]}
