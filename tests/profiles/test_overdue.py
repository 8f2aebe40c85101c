"""P5: of overdue work those who do it and those who gave it are told, once for each moment that it was due."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from profiles import overdue, work
from profiles.models import WorkStatus, WorkTask
from profiles.signals import task_overdue
from profiles.tasks import tell_of_overdue_work
from tests.flows.test_notices import page_of
from tests.profiles.conftest import Cast


@pytest.fixture
def told() -> Any:
    """Who was told of which tasks."""
    heard: list[tuple[int, list[int]]] = []

    def hear(user_id: int, task_ids: list[int], **_: Any) -> None:
        heard.append((user_id, task_ids))

    task_overdue.connect(hear)
    yield heard
    task_overdue.disconnect(hear)


def task(people: dict[str, User], *, hours: float | None = -1, **fields: Any) -> WorkTask:
    """A task of Bob's that Alice gave, due so many hours from now."""
    due_at = None if hours is None else timezone.now() + timedelta(hours=hours)
    defaults = {"title": "交季度报告", "assignee": people["bob"], "creator": people["alice"]}
    return WorkTask.objects.create(**defaults | fields, due_at=due_at)


def test_both_are_told_once(people: dict[str, User], told: list[Any]) -> None:
    late = task(people)
    assert overdue.tell() == 1
    assert sorted(told) == sorted([(people["bob"].pk, [late.pk]), (people["alice"].pk, [late.pk])])
    assert overdue.tell() == 0
    assert len(told) == 2


def test_whoever_gave_it_to_themselves_is_told_once(people: dict[str, User], told: list[Any]) -> None:
    own = task(people, creator=people["bob"])
    orphan = task(people, creator=None)
    overdue.tell()
    assert told == [(people["bob"].pk, [own.pk, orphan.pk])]


def test_what_is_not_due_yet_over_or_without_a_date_is_left_alone(people: dict[str, User]) -> None:
    task(people, hours=1)
    task(people, hours=None)
    task(people, status=WorkStatus.DONE, completed_at=timezone.now())
    task(people, status=WorkStatus.CANCELLED)
    assert overdue.tell() == 0


def test_another_due_date_is_told_of_again(people: dict[str, User]) -> None:
    late = task(people)
    assert overdue.tell() == 1
    work.change(people["alice"], late.pk, {"due_at": timezone.now() + timedelta(hours=1)})
    assert overdue.tell() == 0
    work.change(people["alice"], late.pk, {"due_at": timezone.now() - timedelta(minutes=1)})
    assert overdue.tell() == 1
    work.change(people["bob"], late.pk, {"status": "done"})
    work.change(people["bob"], late.pk, {"status": "open"})
    assert overdue.tell() == 0


def test_many_tasks_take_no_more_statements_than_one(people: dict[str, User]) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as asked:
            overdue.tell()
        return len(asked)

    task(people)
    one = statements()
    for _ in range(20):
        task(people)
    assert statements() == one


@pytest.mark.django_db(transaction=True)
def test_a_task_that_somebody_else_tells_of_right_now_is_left_to_them(told: list[Any]) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from tests.profiles.organisation import organisation

    people = organisation()
    task(people)

    def elsewhere() -> int:
        try:
            return overdue.tell()
        finally:
            connection.close()

    with transaction.atomic(), ThreadPoolExecutor(1) as other:
        list(WorkTask.objects.select_for_update())
        assert other.submit(elsewhere).result(20) == 0
    assert overdue.tell() == 1


def test_open_pages_hear_of_it(cast: Cast) -> None:
    alice, bob = cast["alice"], cast["bob"]
    past = (timezone.now() - timedelta(minutes=5)).isoformat()
    made = alice.api.post("/api/tasks", json={"title": "晚了", "assignee": bob.user.pk, "due_at": past}).json()
    with page_of(bob) as his, page_of(alice) as hers:
        tell_of_overdue_work()
        expected = {"type": "task.overdue", "task_id": made["id"]}
        assert [json.loads(page.recv(timeout=20)) for page in (his, hers)] == [expected] * 2
    assert WorkTask.objects.get().overdue_told_for == datetime.fromisoformat(past)
