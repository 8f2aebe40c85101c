"""Managers in the admin: who enters it, and what their reports have done."""

import uuid
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from profiles.apps import MANAGERS
from profiles.models import FlowUse, WorkTask
from tests.profiles.test_tasks_page import browser


def manager(user: User, language: str = "en") -> Client:
    """A browser of somebody who is staff in the group Managers."""
    user.is_staff = True
    user.save()
    user.groups.add(Group.objects.get(name=MANAGERS))
    return browser(user, language)


def member(person: User) -> str:
    """The address of somebody's page."""
    return f"/admin/profiles/userprofile/{person.pk}/change/"


def past_task(
    by: User, to: User, title: str, *, given: int, due: int | None = None, done: int | None = None
) -> WorkTask:
    """A task that was given, is due and was done so many days ago; negative days lie ahead."""
    ago = {"created_at": given, "due_at": due, "completed_at": done}
    moments = {name: timezone.now() - timedelta(days=days) for name, days in ago.items() if days is not None}
    status = "done" if done is not None else "open"
    task: WorkTask = WorkTask.objects.create(title=title, creator=by, assignee=to, status=status, **moments)
    return task


def used(user: User, days: int, flow: str = "周报生成", **fields: Any) -> FlowUse:
    """A flow that was used so many days ago."""
    ids = {"turn_id": uuid.uuid4(), "session_id": uuid.uuid4(), "flow_id": 7}
    at = timezone.now() - timedelta(days=days)
    use: FlowUse = FlowUse.objects.create(user=user, flow_name=flow, **{"at": at} | ids | fields)
    return use
