"""P8, O2: the first page of the admin tells managers how their team is doing, without a click."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from profiles.admin.team import LATE, PEOPLE
from profiles.aggregation import aggregate
from profiles.models import Department, Look, Sight, UserProfile, WorkTask
from profiles.reports import lifecycle as reports
from tests.factories import UserFactory
from tests.profiles.managing import manager, past_task
from tests.profiles.organisation import report_to
from tests.profiles.reporting import made
from tests.profiles.test_tasks_page import browser

Cast = dict[str, User]


@pytest.fixture
def alice(people: Cast) -> Client:
    return manager(people["alice"])


def team(client: Client) -> Any:
    return client.get("/admin/").context["team"]


def words(client: Client, address: str = "/admin/") -> str:
    """The page's own part as a reader has it."""
    body = client.get(address).content.decode()
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body[body.index('id="content') - 6 :]))


def recruits(boss: User, number: int) -> list[User]:
    """So many more people who report to `boss`, with a late task each."""
    department = Department.objects.first()
    users = User.objects.bulk_create(User(username=f"recruit{n}") for n in range(number))
    UserProfile.objects.bulk_create(
        UserProfile(user=user, display_name=f"新人{user.pk}", manager=boss, department=department) for user in users
    )
    due = timezone.now() - timedelta(days=1)
    WorkTask.objects.bulk_create(WorkTask(title="x", assignee=user, creator=boss, due_at=due) for user in users)
    aggregate()
    return users


def test_each_person_stands_there_with_their_figures(people: Cast, alice: Client) -> None:
    boss, bob = people["alice"], people["bob"]
    past_task(boss, bob, "迟了的", given=9, due=2)
    past_task(boss, bob, "快到了", given=9, due=-3)
    past_task(boss, bob, "以后的", given=9, due=-9)
    past_task(boss, bob, "做完了", given=9, done=1)
    past_task(boss, bob, "早做完了", given=80, done=70)
    past_task(boss, people["carol"], "别人的", given=9, due=2)
    aggregate()
    [his] = [member for member in team(alice).members if member.profile.pk == bob.pk]
    assert (his.unfinished, his.overdue, his.done, his.rate, his.sample) == (3, 1, 1, "40%", "of 5 tasks")
    assert his.next_due
    assert (his.next_due - timezone.now()).days == 2
    assert [number for _name, number, _look in team(alice).totals] == [3, 3, 1, 1]
    assert [task.title for task in team(alice).late] == ["迟了的"]


def test_without_data_there_is_no_rate(people: Cast, alice: Client) -> None:
    assert {member.rate for member in team(alice).members} == {"not enough data"}
    assert "0%" not in words(alice)
    assert "As soon as tasks are given, they are counted here week by week." in words(alice)
    assert "Nothing is overdue." in words(alice)


def test_the_chart_counts_by_week(people: Cast, alice: Client) -> None:
    boss = people["alice"]
    past_task(boss, people["bob"], "这周", given=0)
    past_task(boss, people["dan"], "三周前", given=21, done=0)
    past_task(boss, people["dan"], "早了", given=200)
    past_task(boss, boss, "自己的", given=0)
    given, done = team(alice).chart.series
    assert (len(given.values), given.values[-1], given.values[-4], sum(given.values)) == (12, 1, 1, 2)
    assert (done.values[-1], sum(done.values)) == (1, 1)


def test_indirect_reports_are_there_too_under_their_manager(people: Cast) -> None:
    members = team(manager(people["grace"])).members
    assert [member.profile.user.username for member in members if not member.under] == ["alice"]
    assert {member.under for member in members[1:]} == {"张岚"}
    assert {member.profile.user.username for member in members[1:]} == {"bob", "dan", "erin"}


def test_everybody_who_is_shown_is_noted_once(people: Cast, alice: Client) -> None:
    past_task(people["alice"], people["bob"], "迟了的", given=9, due=2)
    alice.get("/admin/")
    seen = sorted(Look.objects.values_list("subject__username", "sight"))
    assert seen == [("bob", Sight.LIST), ("dan", Sight.LIST), ("erin", Sight.LIST)]


def test_it_takes_as_many_statements_for_three_hundred_as_for_three(people: Cast, alice: Client) -> None:
    alice.get("/admin/")  # what is read once for the process
    counted = []
    for number in (0, 297):
        recruits(people["alice"], number)
        with CaptureQueriesContext(
            connection,
        ) as statements:
            shown = team(alice)
        counted.append(len(statements))
    assert counted[0] == counted[1]
    assert (len(shown.members), shown.more, len(shown.late), shown.late_more) == (
        PEOPLE,
        300 - PEOPLE,
        LATE,
        297 - LATE,
    )
    assert f"{300 - PEOPLE} more people in the list" in words(alice)


def test_reports_that_wait_for_somebody_are_there(people: Cast, alice: Client) -> None:
    boss, bob = people["alice"], people["bob"]
    report = made(boss, bob)
    assert "waits for your signature" in words(alice)
    assert "王小明，2025-10-01 – " in words(manager(boss, "zh-hans"))
    reports.sign(boss, report.pk)
    assert "is signed, not shared yet" in words(alice)
    reports.share(boss, report.pk)
    assert "waits for an answer" in words(alice)
    reports.respond(bob, report.pk, "谢谢。")
    assert "was answered" in words(alice)
    assert "王小明, 2025-10-01" not in words(manager(people["carol"]))


def test_a_manager_without_people_is_told_what_will_be_there(people: Cast) -> None:
    page = words(manager(people["carol"]))
    assert "Nobody reports to you yet" in page
    assert "周可" not in page.replace("carol", "")
    assert not Look.objects.exists()


def test_somebody_who_left_the_team_is_gone_at_once(people: Cast, alice: Client) -> None:
    past_task(people["alice"], people["bob"], "迟了的", given=9, due=2)
    assert "王小明" in words(alice)
    report_to(people["bob"], None)
    assert "王小明" not in words(alice)
    assert "迟了的" not in words(alice)


def test_superusers_have_their_overview_and_their_team_if_they_lead_one(people: Cast, root: Client) -> None:
    assert "My people" not in words(root)
    people["alice"].is_superuser = people["alice"].is_staff = True
    people["alice"].save()
    page = words(browser(people["alice"], "en"))
    assert "My people" in page
    assert "Services" in page


def test_staff_who_are_no_managers_see_no_team(people: Cast) -> None:
    people["alice"].is_staff = True
    people["alice"].save()
    assert "王小明" not in words(browser(people["alice"], "en"))
    assert browser(people["erin"]).get("/admin/", follow=True).status_code == 403


def test_somebody_without_figures_or_department_does_no_harm(people: Cast, alice: Client) -> None:
    new = UserFactory(username="new", is_active=False)
    UserProfile.objects.create(user=new, display_name="新来的", manager=people["alice"])
    assert "account switched off" in words(alice)
