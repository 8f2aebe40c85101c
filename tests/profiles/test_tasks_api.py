"""Work over REST: given along the reporting line, moved by whoever does it, edited by whoever gave it (P5)."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from memory import forgetting
from memory.models import Turn
from profiles import work
from profiles.errors import TaskChanged
from profiles.models import WorkStatus, WorkTask
from tests.factories import TurnFactory
from tests.people import Person
from tests.profiles.conftest import Cast
from tests.profiles.organisation import report_to

FIELDS = {
    *("id", "title", "description", "assignee", "creator", "status", "due_at", "created_at", "completed_at"),
    *("source_turn_id", "history"),
}


def give(person: Person, **fields: Any) -> dict[str, Any]:
    """A task that must come into being."""
    answer = person.api.post("/api/tasks", json={"title": "交季度报告"} | fields)
    assert answer.status_code == 201, answer.text
    return answer.json()


def patch(person: Person, task: dict[str, Any], **fields: Any) -> tuple[int, str]:
    """The status, and the code of an error."""
    answer = person.api.patch(f"/api/tasks/{task['id']}", json=fields)
    return answer.status_code, answer.json()["errors"][0]["code"] if answer.status_code >= 400 else ""


def test_a_task_has_the_fields_that_are_promised(cast: Cast) -> None:
    """P5."""
    alice, bob = cast["alice"], cast["bob"]
    task = give(alice, assignee=bob.user.pk, description="三页以内", due_at="2026-12-11T23:59:00+08:00")
    assert set(task) == FIELDS
    assert (task["assignee"], task["creator"]) == (bob.user.pk, alice.user.pk)
    assert (task["status"], task["completed_at"], task["source_turn_id"]) == ("open", None, None)
    assert task["due_at"] == "2026-12-11T15:59:00Z"
    assert bob.api.get(f"/api/tasks/{task['id']}").json() == task


def test_without_an_assignee_it_is_ones_own(cast: Cast) -> None:
    carol = cast["carol"]
    assert give(carol)["assignee"] == carol.user.pk


def test_the_assignee_moves_the_status_and_the_history_tells(cast: Cast) -> None:
    """P5."""
    alice, bob = cast["alice"], cast["bob"]
    task = give(alice, assignee=bob.user.pk)
    for status in ("in_progress", "done", "open", "done"):
        assert patch(bob, task, status=status) == (200, "")
    task = alice.api.get(f"/api/tasks/{task['id']}").json()
    assert task["completed_at"]
    told = [(event["actor"], event["field"], event["from"], event["to"]) for event in task["history"]]
    assert told == [
        (alice.user.pk, "created", "", ""),
        (bob.user.pk, "status", "open", "in_progress"),
        (bob.user.pk, "status", "in_progress", "done"),
        (bob.user.pk, "status", "done", "open"),
        (bob.user.pk, "status", "open", "done"),
    ]
    assert [event["at"] for event in task["history"]] == sorted(event["at"] for event in task["history"])


def test_what_is_not_done_has_no_time_of_completion(cast: Cast) -> None:
    bob = cast["bob"]
    task = give(bob)
    patch(bob, task, status="done")
    assert bob.api.patch(f"/api/tasks/{task['id']}", json={"status": "open"}).json()["completed_at"] is None


def test_the_creator_edits_and_cancels(cast: Cast) -> None:
    """P5."""
    alice, bob = cast["alice"], cast["bob"]
    task = give(alice, assignee=bob.user.pk, due_at="2026-12-11T00:00:00Z")
    wording = {"title": "交年度报告", "description": "五页", "due_at": None}
    assert patch(alice, task, **wording) == (200, "")
    assert patch(alice, task, status="cancelled") == (200, "")
    now = bob.api.get(f"/api/tasks/{task['id']}").json()
    assert {name: now[name] for name in wording} == wording
    told = [(event["field"], event["from"], event["to"]) for event in now["history"][1:]]
    assert sorted(told) == [
        ("description", "", ""),
        ("due_at", "2026-12-11T00:00:00Z", ""),
        ("status", "open", "cancelled"),
        ("title", "交季度报告", "交年度报告"),
    ]


@pytest.mark.parametrize(
    ("who", "change"),
    [
        ("bob", {"title": "别的"}),
        ("bob", {"due_at": None}),
        ("bob", {"status": "cancelled"}),
        ("bob", {"status": "done", "title": "别的"}),
        ("alice", {"status": "done"}),
        ("grace", {"status": "done"}),
        ("grace", {"title": "别的"}),
        ("grace", {"status": "cancelled"}),
    ],
)
def test_others_who_see_it_change_nothing(cast: Cast, who: str, change: dict[str, Any]) -> None:
    """P5: neither does half of a change happen."""
    task = give(cast["alice"], assignee=cast["bob"].user.pk, due_at="2026-12-11T00:00:00Z")
    assert patch(cast[who], task, **change) == (403, "not_yours_to_change")
    assert cast["alice"].api.get(f"/api/tasks/{task['id']}").json() == task


@pytest.mark.parametrize("who", ["dan", "erin", "carol", "frank"])
def test_peers_and_strangers_find_nothing(cast: Cast, who: str) -> None:
    """P4: the same 404 as for a task that does not exist."""
    task = give(cast["alice"], assignee=cast["bob"].user.pk)
    person = cast[who]
    for method, body in (("GET", None), ("PATCH", {"status": "done"})):
        foreign = person.api.request(method, f"/api/tasks/{task['id']}", json=body)
        missing = person.api.request(method, "/api/tasks/987654", json=body)
        assert (foreign.status_code, foreign.text) == (404, missing.text)
    assert person.api.get("/api/tasks").json()["results"] == []


def test_what_is_over_is_over(cast: Cast) -> None:
    alice, bob = cast["alice"], cast["bob"]
    done, cancelled = give(alice, assignee=bob.user.pk), give(alice, assignee=bob.user.pk)
    patch(bob, done, status="done")
    patch(alice, cancelled, status="cancelled")
    assert patch(alice, done, status="cancelled") == (409, "task_changed")
    assert patch(alice, done, title="别的") == (409, "task_changed")
    assert patch(bob, cancelled, status="open") == (409, "task_changed")


def test_when_the_line_ends_the_task_stays_with_its_rights(cast: Cast) -> None:
    """P5: it was given in good order."""
    alice, bob = cast["alice"], cast["bob"]
    task = give(alice, assignee=bob.user.pk)
    report_to(bob.user, None)
    assert patch(bob, task, status="in_progress") == (200, "")
    assert patch(alice, task, title="改过") == (200, "")
    assert patch(cast["grace"], task, title="x") == (404, "not_found")
    assert alice.api.get("/api/tasks", params={"assignee": "team"}).json()["results"] == []


def test_of_two_who_change_it_at_once_the_quicker_wins(cast: Cast) -> None:
    """P5: guarded in the database, not by what was read before."""
    bob = cast["bob"]
    task = WorkTask.objects.get(pk=give(bob)["id"])
    read = work.visible_task(bob.user, task.pk)
    work.change(bob.user, task.pk, {"status": WorkStatus.DONE})
    with pytest.raises(TaskChanged):
        work._write(bob.user, read, {"status": WorkStatus.IN_PROGRESS})
    assert work.visible_task(bob.user, task.pk).status == WorkStatus.DONE


def test_sending_it_twice_makes_one_task(cast: Cast) -> None:
    """P6: a second click is harmless, whatever became of the task since; the key is its creator's own."""
    alice, bob = cast["alice"], cast["bob"]
    body = {"title": "交季度报告", "assignee": bob.user.pk, "client_key": "card-1"}
    task = give(alice, **body)
    again = alice.api.post("/api/tasks", json=body)
    assert (again.status_code, again.json()) == (200, task)
    other = alice.api.post("/api/tasks", json=body | {"title": "另一个"})
    assert (other.status_code, other.json()["errors"][0]["code"]) == (409, "client_key_reused")
    patch(bob, task, status="done")
    report_to(bob.user, None)
    assert alice.api.post("/api/tasks", json=body).json()["status"] == "done"
    give(bob, client_key="card-1")
    assert WorkTask.objects.count() == 2


def test_two_clicks_at_once_make_one_task(cast: Cast) -> None:
    alice, answers = cast["alice"], []
    body = {"title": "x", "assignee": cast["bob"].user.pk, "client_key": "card-1"}
    alice.api.get("/api/tasks")
    clicks = [
        threading.Thread(target=lambda: answers.append(alice.api.post("/api/tasks", json=body))) for _ in range(4)
    ]
    for click in clicks:
        click.start()
    for click in clicks:
        click.join(timeout=30)
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 201]
    assert len({answer.json()["id"] for answer in answers}) == WorkTask.objects.count() == 1


def test_the_list_is_filtered(cast: Cast) -> None:
    """P5: mine, my team's, one person's; by status; the newest first."""
    grace, alice, bob = cast["grace"], cast["alice"], cast["bob"]
    own, given = give(alice, title="own"), give(alice, title="given", assignee=bob.user.pk)
    his = give(bob, title="his")
    above = give(grace, title="above")
    patch(bob, his, status="done")

    def listed(person: Person, **asked: str) -> list[int]:
        answer = person.api.get("/api/tasks", params=asked)
        assert answer.status_code == 200, answer.text
        return [task["id"] for task in answer.json()["results"]]

    assert listed(alice) == [his["id"], given["id"], own["id"]]
    assert listed(alice, assignee="me") == [own["id"]]
    assert listed(alice, assignee="team") == [his["id"], given["id"]]
    assert listed(alice, assignee=str(bob.user.pk), status="open") == [given["id"]]
    assert listed(grace, assignee="team") == [his["id"], given["id"], own["id"]]
    assert listed(bob, assignee="team") == []
    assert above["id"] not in listed(bob)


@pytest.mark.parametrize(
    "asked", [{"user_id": "1"}, {"status": "late"}, {"status": ""}, {"limit": "0"}, {"creator": "me"}]
)
def test_a_filter_that_is_none_is_refused(cast: Cast, asked: dict[str, str]) -> None:
    assert cast["bob"].api.get("/api/tasks", params=asked).status_code == 400


@pytest.mark.parametrize("assignee", ["0", "-1", "x", "9" * 40, "team ", "*", "١"])
def test_an_assignee_that_is_nobody_is_404(cast: Cast, assignee: str) -> None:
    assert cast["bob"].api.get("/api/tasks", params={"assignee": assignee}).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"title": ""},
        {"title": " \n "},
        {"title": "x" * 201},
        {"title": "x", "due_at": "2026-12-05T10:00:00"},
        {"title": "x", "due_at": "明天"},
        {"title": "x", "description": "x" * 5001},
        {"title": "x", "status": "done"},
        {"title": "x", "creator": 1},
        {"title": "x", "assignee": "alle"},
        {"title": "x", "client_key": ""},
        {"title": "x", "source_turn_id": None},
    ],
)
def test_a_body_with_a_mistake_makes_no_task(cast: Cast, body: dict[str, Any]) -> None:
    """P5: a time without its zone is one, and so is a field that does not exist."""
    answer = cast["bob"].api.post("/api/tasks", json=body)
    assert (answer.status_code, answer.json()["type"]) == (400, "validation_error")
    assert not WorkTask.objects.exists()


@pytest.mark.parametrize("change", [{"assignee": 1}, {"creator": 1}, {"status": "late"}, {"id": 2}, {"title": ""}])
def test_a_change_with_a_mistake_changes_nothing(cast: Cast, change: dict[str, Any]) -> None:
    task = give(cast["bob"])
    assert patch(cast["bob"], task, **change)[0] == 400
    assert cast["bob"].api.get(f"/api/tasks/{task['id']}").json() == task


def test_people_are_found_by_part_nickname_and_pinyin(cast: Cast) -> None:
    """P6: among those one may give work to."""
    alice = cast["alice"]

    def found(words: str, **more: str) -> list[str]:
        rows = alice.api.get("/api/people", params={"q": words, **more}).json()["results"]
        assert all(set(row) == {"user_id", "display_name", "department", "position"} for row in rows)
        return [row["display_name"] for row in rows]

    assert sorted(found("小明", assignable="true")) == ["李小明", "王小明"]
    assert found("wangxiaoming") == ["王小明"]
    assert found("周可") == []
    assert alice.api.get("/api/people", params={"q": ""}).status_code == 400
    assert alice.api.get("/api/people", params={"department": "1"}).status_code == 400


def test_erasing_memory_keeps_the_task_without_its_turn(cast: Cast) -> None:
    """M10."""
    bob = cast["bob"]
    turn: Turn = TurnFactory(conversation__user=bob.user)
    task, _is_new = work.give(bob.user, work.NewTask("x", bob.user.pk, source_turn_id=turn.pk))
    assert bob.api.get(f"/api/tasks/{task.pk}").json()["source_turn_id"] == str(turn.pk)
    forgetting.erase(bob.user, scope=forgetting.Scope.ALL)
    assert bob.api.get(f"/api/tasks/{task.pk}").json()["source_turn_id"] is None


def test_somebody_elses_turn_is_no_source(cast: Cast) -> None:
    """M2."""
    turn: Turn = TurnFactory(conversation__user=cast["carol"].user)
    task, _is_new = work.give(cast["bob"].user, work.NewTask("x", cast["bob"].user.pk, source_turn_id=turn.pk))
    assert task.source_turn is None


def test_overdue_is_what_should_have_been_done(cast: Cast) -> None:
    bob, hour = cast["bob"], timedelta(hours=1)
    late = give(bob, due_at=(timezone.now() - hour).isoformat())
    done = give(bob, due_at=(timezone.now() - hour).isoformat())
    patch(bob, done, status="done")
    give(bob, due_at=(timezone.now() + hour).isoformat())
    assert [task.pk for task in WorkTask.objects.overdue()] == [late["id"]]
