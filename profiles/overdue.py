"""Telling of work that has become overdue: once for each moment that a task was due, to those who do and gave it."""

from collections import defaultdict

from django.db import transaction
from django.db.models import F

from profiles.models import WorkTask
from profiles.signals import task_overdue

BATCH = 500
"""Tasks that are told of in one transaction."""


def tell() -> int:
    """Tells of everything that has become overdue since the last time; how many tasks.

    A job that is killed behind its commit tells nobody of that batch: pages show what is overdue anyway.
    """
    told = 0
    while True:
        batch = _claimed()
        told += len(batch)
        _send(batch)
        if len(batch) < BATCH:
            return told


@transaction.atomic
def _claimed() -> list[WorkTask]:
    """The tasks that this job alone tells of; those that somebody changes right now wait for the next time."""
    due = WorkTask.objects.newly_overdue().select_for_update(skip_locked=True).order_by("due_at", "pk")
    batch = list(due.only("pk", "assignee_id", "creator_id")[:BATCH])
    WorkTask.objects.filter(pk__in=[task.pk for task in batch]).update(overdue_told_for=F("due_at"))
    return batch


def _send(batch: list[WorkTask]) -> None:
    by_person: dict[int, list[int]] = defaultdict(list)
    for task in batch:
        by_person[task.assignee_id].append(task.pk)
        if task.creator_id is not None and task.creator_id != task.assignee_id:
            by_person[task.creator_id].append(task.pk)
    for user_id, task_ids in by_person.items():
        task_overdue.send(sender=WorkTask, user_id=user_id, task_ids=task_ids)
