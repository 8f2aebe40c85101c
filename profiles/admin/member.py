"""The page of somebody in the team: what `manager_view` gives, and nothing else, with their work beside it."""

from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _

from memory.person import Person
from profiles import manager_view
from profiles.admin.asked_period import OWN, SPANS, AskedPeriod, report_periods, shown_period
from profiles.charts import bars, work_by_week
from profiles.models import UserProfile, WorkTask, zone_of
from profiles.permissions import Act, policy
from profiles.profile_page import of_tasks, time_taken
from profiles.reports.lifecycle import reports_about
from profiles.reports.waiting import waits_for
from profiles.task_page import name_of
from profiles.timeline import days_of

TASKS, REPORTS, DAYS = 8, 10, 14
"""Tasks, reports, and days of the timeline that the page has at once."""


def look_at_member(viewer: Person, user_id: int, query: QueryDict) -> dict[str, Any]:
    """Everything that the page needs. The look is noted. Raises ProfileNotFound."""
    seen = manager_view.look_at(viewer, user_id)
    subject = User(pk=user_id)
    zone = zone_of(subject)
    asked = shown_period(query, zone)
    return (
        {"seen": seen, "rows": _rows(seen), "tags": _tags(seen)}
        | _place(user_id)
        | {"topics": bars([(topic["topic"], topic["count"]) for topic in seen["common_topics"]])}
        | {"flows": bars([(flow["flow_name"], flow["count"]) for flow in seen["favorite_workflows"]])}
        | {"asked": asked, "spans": _spans(asked), "OWN": OWN}
        | _work(viewer, subject, asked, zone)
        | _timeline(viewer, subject, asked, zone, query)
        | _reports(viewer, user_id, zone)
        | {"may_give": policy.allows(viewer, Act.ASSIGN, subject)}
    )


def _rows(seen: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The figures: name, number, and of how much it was made; no number where there is not enough data."""
    rate, mean, sizes = seen["task_completion_rate"], seen["avg_task_completion_h"], seen["sample_sizes"]
    figures = (
        (_("Completion rate"), "" if rate is None else f"{rate:.0%}", sizes["task_completion_rate"]),
        (_("From given to done, mean"), "" if mean is None else time_taken(mean), sizes["avg_task_completion_h"]),
    )
    return [
        *((name, figure, of_tasks(n) if figure else "") for name, figure, n in figures),
        (_("Tasks given to them"), str(seen["total_tasks_assigned"]), ""),
        (_("Tasks given by them"), str(seen["total_tasks_created"]), ""),
        (_("Flows used"), str(seen["total_workflows_used"]), ""),
    ]


def _tags(seen: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Who the person is in words: only what there is."""
    told = [
        (_("Roles"), seen["role_tags"]),
        (_("Also called"), seen["aliases"]),
        (_("How they work"), [tag["value"] for tag in seen["work_style_tags"]]),
        (_("What they are good at"), [tag["value"] for tag in seen["expertise_areas"]]),
    ]
    return [(name, values) for name, values in told if values]


def _place(user_id: int) -> dict[str, Any]:
    """Whose page it is, for its heading, and whom they report to."""
    profile = UserProfile.objects.select_related("manager__profile").get(pk=user_id)
    return {"original": profile, "under": name_of(profile.manager) if profile.manager else ""}


def _spans(asked: AskedPeriod) -> list[tuple[str, Any, bool]]:
    return [(key, name, key == asked.key) for key, (name, _weeks) in SPANS.items()]


def _work(viewer: Person, subject: Person, asked: AskedPeriod, zone: ZoneInfo) -> dict[str, Any]:
    tasks = WorkTask.objects.visible_to(viewer).filter(assignee_id=subject.pk)
    unfinished = tasks.unfinished().by_urgency()
    return {
        "chart": work_by_week(tasks, asked.period, zone, with_overdue=True),
        "in_hand": unfinished[:TASKS],
        "in_hand_number": unfinished.count(),
    }


def _timeline(viewer: Person, subject: Person, asked: AskedPeriod, zone: ZoneInfo, query: QueryDict) -> dict[str, Any]:
    days = Paginator(days_of(viewer, subject, asked.period, zone), DAYS).get_page(query.get("page"))
    kept = query.copy()
    kept.pop("page", None)
    return {"days": days, "kept": kept.urlencode()}


def _reports(viewer: Person, user_id: int, zone: ZoneInfo) -> dict[str, Any]:
    reports = reports_about(viewer, user_id)[:REPORTS]
    today = timezone.localdate(timezone=zone)
    return {
        "reports": [(report, waits_for(report), name_of(report.requested_by)) for report in reports],
        "periods": report_periods(today),
        "today": today,
    }
