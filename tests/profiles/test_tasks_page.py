"""The page with tasks, as the server renders it: my work, the team's, and forms that obey the same rights (P5)."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from profiles import task_page, work
from profiles.models import WorkStatus, WorkTask
from tests.profiles.organisation import report_to


def browser(user: User, language: str = "zh-hans", **options: Any) -> Client:
    client = Client(**options)
    client.force_login(user)
    client.cookies["django_language"] = language
    return client


def give(by: User, to: User, title: str, **fields: Any) -> WorkTask:
    return work.give(by, work.NewTask(title, to.pk, **fields))[0]


def titles(client: Client, address: str = "/tasks/") -> list[str]:
    return re.findall(r"<summary[^>]*>\s*<b>([^<]+)</b>", client.get(address).content.decode())


@pytest.fixture
def alice(people: dict[str, User]) -> Client:
    return browser(people["alice"])


def test_my_work_and_the_teams_stand_apart(people: dict[str, User], alice: Client) -> None:
    give(people["alice"], people["alice"], "我的")
    give(people["alice"], people["bob"], "小明的")
    give(people["carol"], people["carol"], "别人的")
    assert titles(alice) == ["我的"]
    assert titles(alice, "/tasks/?tab=team") == ["小明的"]
    assert titles(browser(people["bob"])) == ["小明的"]
    assert titles(browser(people["dan"])) == titles(browser(people["dan"]), "/tasks/?tab=team") == []


def test_the_most_urgent_comes_first_and_filters_narrow(people: dict[str, User]) -> None:
    bob, day = people["bob"], timedelta(days=1)
    for title, due in (("以后", 5), ("迟了", -1), ("没定", None), ("快了", 1)):
        give(bob, bob, title, due_at=timezone.now() + due * day if due else None)
    done, off = give(bob, bob, "做完了"), give(bob, bob, "不做了")
    work.change(bob, done.pk, {"status": WorkStatus.DONE})
    work.change(bob, off.pk, {"status": WorkStatus.CANCELLED})
    page = browser(bob)
    assert titles(page) == ["迟了", "快了", "以后", "没定"]
    assert titles(page, "/tasks/?show=overdue") == ["迟了"]
    assert titles(page, "/tasks/?show=done") == ["做完了"]
    assert titles(page, "/tasks/?show=cancelled") == ["不做了"]
    assert len(titles(page, "/tasks/?show=all")) == 6
    assert titles(page, "/tasks/?show=%00&tab=x&page=x") == titles(page)


def test_a_task_is_given_with_a_day_in_the_givers_zone(people: dict[str, User], alice: Client) -> None:
    """P5: a day without a time ends when it ends there."""
    body = {"title": " 交季度\n报告 ", "assignee": people["bob"].pk, "due_date": "2026-12-11", "description": "三页"}
    answer = alice.post("/tasks/", body)
    task = WorkTask.objects.get()
    assert answer.headers["Location"] == f"/tasks/?tab=team&task={task.pk}#task-{task.pk}"
    assert (task.title, task.assignee, task.creator) == ("交季度 报告", people["bob"], people["alice"])
    assert task.due_at
    assert task.due_at.isoformat() == "2026-12-11T15:59:00+00:00"
    alice.post(f"/tasks/{task.pk}/edit/", {"title": "交", "due_date": "2026-12-11", "due_time": "09:30"})
    task.refresh_from_db()
    assert (task.title, task.description) == ("交", "")
    assert task.due_at.isoformat() == "2026-12-11T01:30:00+00:00"


@pytest.mark.parametrize("wrong", [{"title": ""}, {"due_date": "31.12."}, {"due_time": "09:00"}, {"assignee": "x"}])
def test_a_form_with_a_mistake_comes_back_with_what_was_typed(
    people: dict[str, User], alice: Client, wrong: dict[str, str]
) -> None:
    body = {"title": "交季度报告", "assignee": people["bob"].pk, "description": "打了很久的字"} | wrong
    answer = alice.post("/tasks/", body)
    html = answer.content.decode()
    assert (answer.status_code, WorkTask.objects.count()) == (400, 0)
    assert 'data-open="/tasks/' in html
    assert 'role="alert"' in html
    assert "打了很久的字" in html


def test_nobody_is_given_work_by_guessing_their_number(people: dict[str, User], alice: Client) -> None:
    answer = alice.post("/tasks/", {"title": "x", "assignee": people["carol"].pk})
    missing = alice.post("/tasks/", {"title": "x", "assignee": 987654})
    assert "请从列表中选一个人" in answer.content.decode()
    assert (answer.status_code, missing.status_code, WorkTask.objects.count()) == (400, 400, 0)
    assert "周可" not in answer.content.decode()


def test_the_assignee_moves_and_the_creator_cancels(people: dict[str, User], alice: Client) -> None:
    task = give(people["alice"], people["bob"], "x")
    address = f"/tasks/{task.pk}/status/"
    bob = browser(people["bob"])
    assert bob.post(address, {"status": "in_progress"}).status_code == 302
    assert "只有做任务的人" in bob.post(address, {"status": "cancelled"}, follow=True).content.decode()
    assert "只有做任务的人" in alice.post(address, {"status": "done"}, follow=True).content.decode()
    task.refresh_from_db()
    assert task.status == WorkStatus.IN_PROGRESS
    alice.post(address, {"status": "cancelled"})
    assert "任务的状态已经变了" in bob.post(address, {"status": "done"}, follow=True).content.decode()
    assert bob.post(address, {"status": "late"}).status_code == 404


def test_a_stranger_finds_no_form(people: dict[str, User]) -> None:
    """P4: a foreign task looks like a missing one."""
    task = give(people["alice"], people["bob"], "x")
    carol = browser(people["carol"])
    for verb, body in (("edit", {"title": "y"}), ("edit", {"title": ""}), ("status", {"status": "done"})):
        answers = [carol.post(f"/tasks/{pk}/{verb}/", body) for pk in (task.pk, 987654)]
        assert [answer.status_code for answer in answers] == [404, 404]
    strict = browser(people["bob"], enforce_csrf_checks=True)
    assert strict.post(f"/tasks/{task.pk}/status/", {"status": "done"}).status_code == 403
    assert Client().post(f"/tasks/{task.pk}/status/", {"status": "done"}).headers["Location"].startswith("/accounts/")
    task.refresh_from_db()
    assert (task.title, task.status) == ("x", WorkStatus.OPEN)


def test_only_what_one_may_do_is_offered(people: dict[str, User], alice: Client) -> None:
    task = give(people["alice"], people["bob"], "x")
    own, his, above = (
        page.get(address).content.decode()
        for page, address in (
            (alice, "/tasks/?tab=team"),
            (browser(people["bob"]), "/tasks/"),
            (browser(people["grace"]), "/tasks/?tab=team"),
        )
    )
    assert ("data-edit=" in own, "data-edit=" in his, "data-edit=" in above) == (True, False, False)
    move = f'action="/tasks/{task.pk}/status/'
    assert [html.count(move) for html in (own, his, above)] == [1, 2, 0]


def test_new_work_is_marked_until_it_is_seen(people: dict[str, User]) -> None:
    """S8: on every page, and in the list once."""
    mark = re.compile(r'data-tasks-link>.*?<i class="dot is-unread"[^>]*?(hidden)?></i></a>', re.DOTALL)
    bob = browser(people["bob"])

    def marked() -> bool:
        found = mark.search(bob.get("/").content.decode())
        assert found
        return found[1] is None

    assert not marked()
    give(people["bob"], people["bob"], "自己的")
    assert not marked()
    give(people["alice"], people["bob"], "新的")
    assert marked()
    in_list = re.compile(r'</b> <i class="dot is-unread"')
    assert len(in_list.findall(bob.get("/tasks/").content.decode())) == 1
    assert not marked()
    assert not in_list.findall(bob.get("/tasks/").content.decode())


def test_the_history_is_told_in_words(people: dict[str, User], alice: Client) -> None:
    task = give(people["alice"], people["bob"], "旧标题", due_at=timezone.now())
    work.change(people["bob"], task.pk, {"status": WorkStatus.IN_PROGRESS})
    work.change(people["alice"], task.pk, {"title": "新标题", "due_at": None})
    html = alice.get("/tasks/?tab=team").content.decode()
    for words in ("张岚派了任务。", "王小明：待办 → 进行中", "原来是“旧标题”", "→ 未定"):
        assert words in html, words


@pytest.mark.parametrize(
    ("language", "address", "words"),
    [
        ("zh-hans", "/tasks/", "没有要做的事"),
        ("zh-hans", "/tasks/?tab=team", "您派给下属的工作会列在这里"),
        ("zh-hans", "/tasks/?show=overdue", "没有逾期的任务"),
        ("en", "/tasks/", "Nothing to do."),
        ("en", "/tasks/?show=done", "No task is in this state."),
    ],
)
def test_an_empty_list_says_how_it_fills(people: dict[str, User], language: str, address: str, words: str) -> None:
    assert words in browser(people["frank"], language).get(address).content.decode()


def test_what_people_typed_is_text(people: dict[str, User]) -> None:
    bob, evil = people["bob"], "<script>alert(1)</script>\"'"
    give(bob, bob, evil, description=evil)
    html = browser(bob).get("/tasks/").content.decode()
    assert "<script>alert" not in html


def test_a_former_report_stays_with_what_was_given(people: dict[str, User], alice: Client) -> None:
    """P5: one's own words, and nothing of what the person does besides."""
    give(people["alice"], people["bob"], "派过的")
    give(people["bob"], people["bob"], "自己的")
    report_to(people["bob"], None)
    assert titles(alice, "/tasks/?tab=team") == ["派过的"]


def test_a_long_list_comes_in_pages(people: dict[str, User]) -> None:
    bob = people["bob"]
    for number in range(61):
        give(bob, bob, f"第{number}个")
    page = browser(bob)
    first, second = titles(page), titles(page, "/tasks/?page=2")
    assert (len(first), len(second), set(first) & set(second)) == (60, 1, set())
    assert "page=2" in page.get("/tasks/").content.decode()


def test_a_link_finds_its_task_however_long_the_list(people: dict[str, User]) -> None:
    """P5, P7: on whichever page it stands, and what is done with it leads back there."""
    bob = people["bob"]
    due = [timezone.now() + timedelta(days=number) for number in range(1, 62)]
    tasks = [give(people["alice"], bob, f"第{number}个", due_at=day) for number, day in enumerate(due, 1)]
    page, last = browser(bob), tasks[-1]
    address = task_page.address_of(last.pk, is_mine=True)
    assert address == f"/tasks/?show=all&task={last.pk}#task-{last.pk}"
    assert titles(page, address) == ["第61个"]
    assert titles(browser(people["alice"]), task_page.address_of(last.pk, is_mine=False)) == ["第61个"]
    assert f"/tasks/{last.pk}/status/?show=all&amp;page=2" in page.get(address).content.decode()
    moved = page.post(f"/tasks/{last.pk}/status/?show=all&page=2", {"status": "in_progress"})
    assert moved.headers["Location"] == f"/tasks/?show=all&page=2&task={last.pk}#task-{last.pk}"
    assert titles(page, moved.headers["Location"]) == ["第61个"]
    for hostile in ("0", "-1", "x", "%00", "9" * 18, "9" * 400, "١", str(last.pk + 1)):
        assert len(titles(page, f"/tasks/?show=all&task={hostile}")) == 60


def test_the_page_takes_as_many_queries_for_many_tasks_as_for_few(
    people: dict[str, User], django_assert_max_num_queries: Any
) -> None:
    for number in range(20):
        give(people["alice"], people["bob"], f"第{number}个")
    page = browser(people["alice"])
    with django_assert_max_num_queries(20):
        page.get("/tasks/?tab=team")
