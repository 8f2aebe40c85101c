"""Reports of Alice's about her people: one that Bob was given, and one that waits for her signature."""

from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User
from django.utils import timezone

from profiles.models import EvaluationReport, ReportState
from profiles.reports.job import Words, basis_of, contents

ZONE = ZoneInfo("Asia/Shanghai")
DAYS = (-40, -6)
"""The first and the last day that they are about, from today."""


def add_reports(people: dict[str, User]) -> None:
    """Adds them about people who were just made; figures and evidence alone, because no model is asked here."""
    if {"alice", "bob", "dan"} <= people.keys():
        _add(people["alice"], people["bob"], is_shared=True)
        _add(people["alice"], people["dan"], is_shared=False)


def _add(manager: User, subject: User, *, is_shared: bool) -> None:
    today = timezone.localdate(timezone=ZONE)
    first, last = (today + timedelta(days=days) for days in DAYS)
    report = EvaluationReport(
        subject=subject,
        requested_by=manager,
        period_start=first,
        period_end=last,
        created_at=_moment(last + timedelta(days=1), "10:05"),
    )
    for name, value in contents(basis_of(report), Words(note="no_model")).items():
        setattr(report, name, value)
    if is_shared:
        report.state = ReportState.SHARED
        report.signed_by = manager
        report.signed_at = _moment(last + timedelta(days=2), "09:40")
        report.shared_at = _moment(last + timedelta(days=2), "09:41")
    report.save()


def _moment(day: date, clock: str) -> datetime:
    return datetime.combine(day, time.fromisoformat(clock), ZONE)
