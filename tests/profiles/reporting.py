"""Work with a past, and reports on it, for tests."""

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.contrib.auth.models import User

from profiles import work
from profiles.models import EvaluationReport, WorkEvent, WorkStatus, WorkTask
from profiles.reports.job import make_due_reports
from profiles.reports.lifecycle import report_for, request_report
from profiles.reports.period import Period
from tests.doubles import Answer

START, END = date(2025, 10, 1), date(2025, 10, 31)
OCTOBER = Period(START, END)


def on(day: int, hour: int = 10, *, month: int = 10) -> datetime:
    """A moment of 2025 by Shanghai's clock."""
    return datetime(2025, month, 1, hour, tzinfo=UTC) + timedelta(days=day - 1, hours=-8)


def given(by: User, to: User, title: str, at: datetime, **fields: Any) -> WorkTask:
    """A task that was given at that moment."""
    task, _is_new = work.give(by, work.NewTask(title, to.pk, **fields))
    WorkTask.objects.filter(pk=task.pk).update(created_at=at)
    WorkEvent.objects.filter(task=task).update(at=at)
    return task


def moved(task: WorkTask, to: str, at: datetime) -> None:
    """Somebody who may moves the task at that moment."""
    actor = task.creator if to == WorkStatus.CANCELLED else task.assignee
    assert actor
    changed(actor, task, at, status=to)


def changed(actor: User, task: WorkTask, at: datetime, **wanted: Any) -> None:
    before = set(WorkEvent.objects.values_list("pk", flat=True))
    work.change(actor, task.pk, wanted)
    WorkEvent.objects.exclude(pk__in=before).update(at=at)


def done(by: User, to: User, title: str = "报告", *, at: int = 5, due: datetime | None = None) -> WorkTask:
    """A task of October that was done a day after it was given."""
    task = given(by, to, title, on(at), due_at=due)
    moved(task, WorkStatus.DONE, on(at + 1))
    return task


def busy_october(by: User, to: User) -> list[WorkTask]:
    """Four tasks: three done, of which one late, and one overdue: seven events."""
    tasks = [done(by, to, f"任务{number}", at=4 + number, due=on(20)) for number in range(2)]
    tasks.append(done(by, to, "晚了的", at=10, due=on(10, 12)))
    tasks.append(given(by, to, "没做的", on(15), due_at=on(25)))
    return tasks


def made(by: User, about: User, period: Period = OCTOBER) -> EvaluationReport:
    """A report that was asked for and made."""
    report = request_report(by, about.pk, period)
    make_due_reports()
    return report_for(by, report.pk)


def claims(*said: tuple[str, Sequence[str]]) -> Answer:
    """What a model answers: texts with their refs."""
    told = [{"text": text, "refs": list(refs)} for text, refs in said]
    return Answer(json.dumps({"claims": told}, ensure_ascii=False))
