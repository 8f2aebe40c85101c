"""How somebody's team is doing, for the first page of the admin: as many statements for three people as for 300."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Case, Count, IntegerField, Min, Q, QuerySet, Value, When
from django.utils import timezone
from django.utils.translation import gettext as _

from memory.person import Person
from profiles.charts import Chart, last_weeks, work_by_week
from profiles.models import UNFINISHED, Figures, Look, Sight, UserProfile, WorkStatus, WorkTask, zone_of
from profiles.profile_page import not_enough, of_tasks
from profiles.reports.waiting import WaitingReport, reports_waiting
from profiles.task_page import name_of

PEOPLE, LATE = 24, 8
"""People and late tasks on the page at most; the lists have all."""
WEEKS = 12
RECENT = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody of the team. `under` is their manager where that is not the viewer; `rate` comes with its sample."""

    profile: UserProfile
    under: str
    unfinished: int
    overdue: int
    done: int
    next_due: datetime | None
    rate: str
    sample: str


@dataclass(frozen=True, slots=True)
class Team:
    """What the page shows. `more` is how many people are left out; the tasks in `late` are the first that were due."""

    members: Sequence[Member]
    more: int
    totals: Sequence[tuple[str, int, str]]
    late: Sequence[WorkTask]
    late_more: int
    chart: Chart
    reports: Sequence[WaitingReport]


def look_at_team(viewer: Person) -> Team:
    """The team of `viewer`; everybody who is shown is noted in the access log, once."""
    team = _of(viewer)
    shown = [member.profile.pk for member in team.members]
    shown += [task.assignee_id for task in team.late] + [waiting.report.subject_id for waiting in team.reports]
    Look.objects.record(viewer, shown, sight=Sight.LIST)
    return team


def _of(viewer: Person) -> Team:
    people = UserProfile.objects.visible_to(viewer).exclude(pk=viewer.pk)
    number, tasks = people.count(), WorkTask.objects.of_team(viewer)
    counted = tasks.aggregate(**_counts())
    members = _members(viewer, people)
    late = list(tasks.overdue().select_related("assignee__profile").order_by("due_at", "pk")[:LATE])
    zone = zone_of(viewer)
    return Team(
        members=members,
        more=number - len(members),
        totals=_totals(number, counted),
        late=late,
        late_more=counted["overdue"] - len(late),
        chart=work_by_week(tasks, last_weeks(WEEKS, zone), zone),
        reports=reports_waiting(viewer),
    )


def _counts() -> dict[str, Any]:
    now = timezone.now()
    waits = Q(status__in=UNFINISHED)
    return {
        "unfinished": Count("pk", filter=waits),
        "overdue": Count("pk", filter=waits & Q(due_at__lt=now)),
        "done": Count("pk", filter=Q(status=WorkStatus.DONE, completed_at__gte=now - RECENT)),
        "next_due": Min("due_at", filter=waits & Q(due_at__gte=now)),
    }


def _totals(people: int, counted: dict[str, Any]) -> list[tuple[str, int, str]]:
    """The figures on top: name, number, and the class that colours it."""
    return [
        (_("People"), people, ""),
        (_("Tasks in hand"), counted["unfinished"], ""),
        (_("Overdue"), counted["overdue"], "down" if counted["overdue"] else ""),
        (_("Done in the last 30 days"), counted["done"], ""),
    ]


def _members(viewer: Person, people: QuerySet[UserProfile]) -> list[Member]:
    """The first people of the team, with those who report to the viewer before those who report to these."""
    is_direct = Case(When(manager_id=viewer.pk, then=Value(0)), default=Value(1), output_field=IntegerField())
    related = ("department", "manager__profile", "user__figures")
    shown = list(people.select_related(*related).order_by(is_direct, "display_name", "pk")[:PEOPLE])
    mine = WorkTask.objects.filter(assignee_id__in=[profile.pk for profile in shown])
    counted: dict[int, Any] = {
        row["assignee_id"]: row for row in mine.order_by().values("assignee_id").annotate(**_counts())
    }
    return [_member(viewer, profile, counted.get(profile.pk, {})) for profile in shown]


def _member(viewer: Person, profile: UserProfile, counted: dict[str, Any]) -> Member:
    figures: Figures | None = getattr(profile.user, "figures", None)
    rate = figures.task_completion_rate if figures else None
    return Member(
        profile=profile,
        under="" if profile.manager_id == viewer.pk else name_of(profile.manager),
        unfinished=counted.get("unfinished", 0),
        overdue=counted.get("overdue", 0),
        done=counted.get("done", 0),
        next_due=counted.get("next_due"),
        rate=not_enough() if rate is None else f"{rate:.0%}",
        sample=of_tasks(figures.tasks_counted) if figures and rate is not None else "",
    )
