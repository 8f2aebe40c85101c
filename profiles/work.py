"""Work tasks: giving, changing and moving them.

Work is given to oneself and to those below oneself. The assignee moves the status; the creator edits, and cancels what
is not done. When a reporting line ends, the tasks given along it stay, with the same rights.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from memory.models import Turn
from memory.person import Person
from profiles.errors import ClientKeyReused, NotYoursToChange, PersonNotFound, TaskChanged, TaskNotFound
from profiles.models import WorkEvent, WorkStatus, WorkTask
from profiles.permissions import Act, policy
from profiles.signals import task_assigned

MOVES = (WorkStatus.OPEN, WorkStatus.IN_PROGRESS, WorkStatus.DONE)
"""Where the assignee may move a task, in any order: what was done too early is opened again."""
WORDING = ("title", "description", "due_at")
"""What the creator may edit."""


@dataclass(frozen=True, slots=True)
class NewTask:
    """A job to be given. `due_at` is aware; `client_key` makes sending it twice harmless."""

    title: str
    assignee_id: int
    description: str = ""
    due_at: datetime | None = None
    client_key: str | None = None
    source_turn_id: UUID | None = None


def give(creator: Person, new: NewTask) -> tuple[WorkTask, bool]:
    """Makes the task and tells its assignee; the task, and whether it is new.

    Raises PersonNotFound for whoever `creator` may not give work to, ClientKeyReused when the key named another task.
    """
    if (known := _known(creator, new)) is not None:
        return known, False
    if not policy.allows(creator, Act.ASSIGN, User(pk=new.assignee_id)):
        raise PersonNotFound
    try:
        with transaction.atomic():
            return _make(creator, new), True
    except IntegrityError:
        # Two requests with one key at the same time: the other one was first.
        if (known := _known(creator, new)) is None:
            raise
        return known, False


def change(user: Person, task_id: int, wanted: Mapping[str, Any]) -> WorkTask:
    """Edits, moves or cancels a task: `wanted` has any of title, description, due_at, status.

    All of it or nothing. Raises TaskNotFound, NotYoursToChange, TaskChanged.
    """
    task = visible_task(user, task_id)
    new = {field: value for field, value in wanted.items() if getattr(task, field) != value}
    if "status" in new:
        _check_move(user, task, WorkStatus(new["status"]))
    if any(field in WORDING for field in new):
        _check_edit(user, task)
    if new:
        _write(user, task, new)
    return visible_task(user, task_id)


def visible_task(user: Person, task_id: int) -> WorkTask:
    """The task with its history. Raises TaskNotFound."""
    visible = WorkTask.objects.visible_to(user).prefetch_related("events")
    task = visible.filter(pk=task_id).first()
    if task is None:
        raise TaskNotFound
    return task


def given_under(owners: Mapping[str, int]) -> dict[str, int]:
    """The tasks that were given under these client keys by the owner of each: `{key: task id}`."""
    tasks = WorkTask.objects.filter(client_key__in=owners, creator_id__in=set(owners.values())) if owners else ()
    return {
        task.client_key: task.pk for task in tasks if task.client_key and owners[task.client_key] == task.creator_id
    }


def mark_seen(user: Person) -> None:
    """Notes that `user` was shown the work that others gave to them."""
    WorkTask.objects.unseen_by(user).update(seen_at=timezone.now())


def may_edit(user: Person, task: WorkTask) -> bool:
    """Whether `user` may edit the task or cancel it now."""
    return task.creator_id == user.pk and task.is_unfinished


def may_move(user: Person, task: WorkTask) -> bool:
    """Whether `user` may move the task's status now."""
    return task.assignee_id == user.pk and task.status != WorkStatus.CANCELLED


def _check_move(user: Person, task: WorkTask, to: WorkStatus) -> None:
    whose = task.creator_id if to == WorkStatus.CANCELLED else task.assignee_id
    if whose != user.pk:
        raise NotYoursToChange
    allowed = may_edit(user, task) if to == WorkStatus.CANCELLED else may_move(user, task)
    if not allowed:
        raise TaskChanged


def _check_edit(user: Person, task: WorkTask) -> None:
    if task.creator_id != user.pk:
        raise NotYoursToChange
    if not task.is_unfinished:
        raise TaskChanged


def _write(user: Person, task: WorkTask, new: dict[str, Any]) -> None:
    """Guarded by the status that was checked: somebody who was quicker wins, and the slower one is told."""
    values = dict(new)
    if "status" in new:
        values["completed_at"] = timezone.now() if new["status"] == WorkStatus.DONE else None
    with transaction.atomic():
        if not WorkTask.objects.filter(pk=task.pk, status=task.status).update(**values):
            raise TaskChanged
        WorkEvent.objects.bulk_create(
            WorkEvent(task=task, actor_id=user.pk, field=field, **_told(field, getattr(task, field), value))
            for field, value in new.items()
        )


def _told(field: str, before: Any, after: Any) -> dict[str, str]:
    """What the history says of a change. A description is not kept twice."""
    return {} if field == "description" else {"before": _word(before), "after": _word(after)}


def _word(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return "" if value is None else str(value)


def _known(creator: Person, new: NewTask) -> WorkTask | None:
    """The task that the key has made before. Raises ClientKeyReused when it was another one."""
    if new.client_key is None:
        return None
    task = WorkTask.objects.filter(creator_id=creator.pk, client_key=new.client_key).first()
    if task and WorkEvent.objects.filter(task=task).exclude(field="created").exists():
        return task  # changed since: what it was like at first is not known any more
    if task and any(getattr(task, field) != getattr(new, field) for field in (*WORDING, "assignee_id")):
        raise ClientKeyReused
    return task


def _make(creator: Person, new: NewTask) -> WorkTask:
    source = new.source_turn_id and Turn.objects.visible_to(creator).filter(pk=new.source_turn_id).first()
    task = WorkTask.objects.create(
        title=new.title,
        description=new.description,
        due_at=new.due_at,
        assignee_id=new.assignee_id,
        creator_id=creator.pk,
        client_key=new.client_key,
        source_turn=source or None,
    )
    WorkEvent.objects.create(task=task, actor_id=creator.pk, field="created")
    if task.assignee_id != creator.pk:
        told = partial(task_assigned.send, sender=WorkTask, user_id=task.assignee_id, task_id=task.pk)
        transaction.on_commit(told)
    return task
