"""What the demo people have to do, and have done, before anybody logs in."""

import json
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User
from django.utils import timezone

from profiles.models import WorkEvent, WorkStatus, WorkTask

ZONE = ZoneInfo("Asia/Shanghai")


def add_work(people: dict[str, User]) -> None:
    """Gives people who were just made the tasks of work.json, dated from today; a second time changes nothing.

    The key of each is its place in the file, so that one that was cancelled or finished since does not come back.
    """
    jobs = json.loads((Path(__file__).parent / "work.json").read_text(encoding="utf-8"))
    for number, job in enumerate(jobs, 1):
        if job["for"] in people and job["by"] in people:
            _add(f"demo-{number}", job, people)


def _add(key: str, job: dict[str, Any], people: dict[str, User]) -> None:
    creator, assignee = people[job["by"]], people[job["for"]]
    given, finished = _moment(job["given"], "09:30"), _moment(job["done"], "16:40") if "done" in job else None
    status = WorkStatus(job.get("status", WorkStatus.DONE if finished else WorkStatus.OPEN))
    task, is_new = WorkTask.objects.get_or_create(
        creator=creator,
        client_key=key,
        defaults={
            "title": job["title"],
            "description": job.get("about", ""),
            "assignee": assignee,
            "status": status,
            "due_at": _moment(job["due"], job.get("at", "23:59")) if "due" in job else None,
            "created_at": given,
            "completed_at": finished,
            "seen_at": given,
        },
    )
    if is_new:
        WorkEvent.objects.bulk_create(_events(task, given, finished))


def _events(task: WorkTask, given: datetime, finished: datetime | None) -> list[WorkEvent]:
    """That it was given, taken up a day later, and how it ended."""
    events = [WorkEvent(task=task, actor=task.creator, field="created", at=given)]
    started = given + timedelta(hours=5)
    if task.status in (WorkStatus.IN_PROGRESS, WorkStatus.DONE):
        events.append(_moved(task, WorkStatus.OPEN, WorkStatus.IN_PROGRESS, started))
    if finished:
        events.append(_moved(task, WorkStatus.IN_PROGRESS, WorkStatus.DONE, finished))
    if task.status == WorkStatus.CANCELLED:
        cancelled = _moved(task, WorkStatus.OPEN, WorkStatus.CANCELLED, started)
        cancelled.actor = task.creator
        events.append(cancelled)
    return events


def _moved(task: WorkTask, before: WorkStatus, after: WorkStatus, at: datetime) -> WorkEvent:
    return WorkEvent(task=task, actor=task.assignee, field="status", before=before, after=after, at=at)


def _moment(days: int, clock: str) -> datetime:
    """So many days from today, at this time in Shanghai."""
    day = timezone.localdate(timezone=ZONE) + timedelta(days=days)
    return datetime.combine(day, time.fromisoformat(clock), ZONE)
