"""P1, P2: figures are counted from events by SQL, in as many statements for a thousand people as for one."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from flows.models import Flow
from memory.models import Conversation
from profiles import work
from profiles.aggregation import aggregate, aggregate_changed
from profiles.facts import Ended, turn_ended
from profiles.models import Figures, FlowUse, UserProfile, WorkStatus
from tests.doubles import ModelServer
from tests.people import Person
from tests.waiting import eventually


def use(user: User, flow: int = 1, name: str = "任务分配", **fields: Any) -> FlowUse:
    """A turn that ended."""
    ids = {"turn_id": uuid.uuid4(), "session_id": fields.pop("session_id", None) or uuid.uuid4()}
    return FlowUse.objects.create(user=user, flow_id=flow, flow_name=name, **ids, **fields)


def figures(user: User) -> Figures:
    return Figures.objects.get(pk=user.pk)


def done_after(by: User, to: User, hours: float) -> None:
    """A task that was done so many hours after it was given."""
    task, _is_new = work.give(by, work.NewTask("报告", to.pk))
    work.change(to, task.pk, {"status": WorkStatus.DONE})
    task.refresh_from_db()
    type(task).objects.filter(pk=task.pk).update(completed_at=task.created_at + timedelta(hours=hours))


def test_conversations_and_flows_are_counted(people: dict[str, User]) -> None:
    bob, session = people["bob"], uuid.uuid4()
    for _ in range(3):
        use(bob, 7, "任务分配", session_id=session)
    use(bob, 8, "周报生成")
    use(people["dan"], 9, "别的")
    aggregate()
    his = figures(bob)
    assert (his.total_conversations, his.total_workflows_used) == (2, 2)
    assert his.favorite_workflows == [
        {"flow_id": 7, "flow_name": "任务分配", "count": 3},
        {"flow_id": 8, "flow_name": "周报生成", "count": 1},
    ]
    assert his.last_conversation_at == FlowUse.objects.of(bob).latest("at").at
    assert figures(people["dan"]).total_conversations == 1


def test_a_flow_is_called_by_its_last_name(people: dict[str, User]) -> None:
    bob, now = people["bob"], timezone.now()
    use(bob, 7, "新名", at=now)
    use(bob, 7, "旧名", at=now - timedelta(days=3))
    aggregate()
    assert figures(bob).favorite_workflows[0]["flow_name"] == "新名"


def test_hours_are_those_of_the_owners_zone(people: dict[str, User]) -> None:
    """The busiest ones; fewer than ten turns say nothing."""
    bob, dan = people["bob"], people["dan"]
    UserProfile.objects.filter(pk=dan.pk).update(time_zone="America/New_York")
    for user, turns in ((bob, 9), (dan, 10)):
        for day in range(turns):
            use(user, at=datetime(2026, 1, 1 + day, 14, 30, tzinfo=UTC))
    aggregate()
    assert figures(bob).preferred_work_hours == []
    use(bob, at=datetime(2026, 1, 20, 14, 30, tzinfo=UTC))
    use(bob, at=datetime(2026, 1, 20, 3, 0, tzinfo=UTC))
    aggregate()
    assert figures(bob).preferred_work_hours == [22]
    assert figures(dan).preferred_work_hours == [9]


def test_no_data_is_null_and_never_nothing_per_cent(people: dict[str, User]) -> None:
    alice, bob = people["alice"], people["bob"]
    aggregate()
    assert (figures(bob).task_completion_rate, figures(bob).avg_task_completion_h, figures(bob).tasks_counted) == (
        None,
        None,
        0,
    )
    off, _is_new = work.give(alice, work.NewTask("不做了", bob.pk))
    work.change(alice, off.pk, {"status": WorkStatus.CANCELLED})
    aggregate()
    assert (figures(bob).total_tasks_assigned, figures(bob).task_completion_rate) == (1, None)


def test_work_is_counted_for_whoever_does_it_and_whoever_gave_it(people: dict[str, User]) -> None:
    alice, bob = people["alice"], people["bob"]
    for hours in (2.0, 5.0):
        done_after(alice, bob, hours)
    work.give(alice, work.NewTask("还没做", bob.pk))
    aggregate()
    his, hers = figures(bob), figures(alice)
    assert (his.total_tasks_assigned, his.total_tasks_created, hers.total_tasks_created) == (3, 0, 3)
    assert (his.tasks_counted, his.tasks_done) == (3, 2)
    assert his.avg_task_completion_h == 3.5
    assert his.task_completion_rate == pytest.approx(2 / 3, abs=1e-4)


def test_counting_again_changes_nothing_and_the_version_rises_only_with_a_change(people: dict[str, User]) -> None:
    bob = people["bob"]
    use(bob)
    assert aggregate() == len(people)
    before = Figures.objects.order_by("pk").values()
    kept = list(before)
    assert aggregate() == aggregate([bob.pk]) == 0
    untouched = {"checked_at"}
    assert [{k: v for k, v in row.items() if k not in untouched} for row in before.all()] == [
        {k: v for k, v in row.items() if k not in untouched} for row in kept
    ]
    use(bob)
    assert aggregate() == 1
    assert figures(bob).profile_version == 2
    UserProfile.objects.filter(pk=bob.pk).update(position="后端工程师")
    assert aggregate() == 1
    assert (figures(bob).profile_version, figures(people["dan"]).profile_version) == (3, 1)


def test_there_are_as_many_statements_for_everybody_as_for_one(people: dict[str, User]) -> None:
    for user in people.values():
        use(user)
    for users in (None, [people["bob"].pk], [user.pk for user in people.values()]):
        with CaptureQueriesContext(connection) as asked:
            aggregate(users)
        counted = [query for query in asked if "SAVEPOINT" not in query["sql"]]
        assert len(counted) <= 2


def test_only_those_for_whom_something_happened_are_counted_soon(people: dict[str, User]) -> None:
    bob, alice = people["bob"], people["alice"]
    aggregate()
    Figures.objects.update(checked_at=timezone.now())
    assert aggregate_changed() == 0
    use(bob, at=timezone.now() + timedelta(seconds=1))
    assert aggregate_changed() == 1
    assert figures(bob).total_conversations == 1
    Figures.objects.update(checked_at=timezone.now() - timedelta(seconds=1))
    work.give(alice, work.NewTask("报告", people["dan"].pk))
    assert aggregate_changed() == 2, "for the one who does it and the one who gave it"


def test_a_turn_that_ended_is_counted_once(people: dict[str, User]) -> None:
    ended = Ended(turn_id=uuid.uuid4(), session_id=uuid.uuid4(), flow_id=1, flow_name="通用助手", model="m")
    for _ in range(2):
        turn_ended(people["bob"], ended)
    assert FlowUse.objects.of(people["bob"]).count() == 1


def test_counts_outlive_the_text(bob: Person, flow: Flow, model: ModelServer) -> None:
    said = bob.says(flow, "你好")
    eventually(lambda: FlowUse.objects.of(bob.user).exists())
    fact = FlowUse.objects.get()
    assert (str(fact.turn_id), fact.flow_name, fact.model) == (said["turn_id"], "通用助手", "scripted")
    aggregate_changed()
    bob.api.post("/api/memory/erase", json={"scope": "all", "confirm": True})
    Conversation.objects.all().delete()
    aggregate()
    assert figures(bob.user).total_conversations == 1


def test_a_turn_that_is_not_to_be_remembered_is_not_counted(bob: Person, flow: Flow, model: ModelServer) -> None:
    bob.says(flow, "别记", memory=False)
    bob.says(flow, "你好")
    eventually(lambda: FlowUse.objects.of(bob.user).exists())
    assert FlowUse.objects.count() == 1
