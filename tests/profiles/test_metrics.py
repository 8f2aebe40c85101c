"""P7: the figures of a report: work that others gave, by what happened in the period, as it stood at its end."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from profiles import work
from profiles.models import UserProfile, WorkEvent, WorkStatus, WorkTask, zone_of
from profiles.reports.metrics import Stretch, metrics_of, work_of
from profiles.reports.period import MOST_DAYS, Period, PeriodRefused
from tests.profiles.reporting import END, OCTOBER, START, busy_october, changed, done, given, moved, on
from tests.profiles.test_figures import use


@pytest.fixture
def alice(people: dict[str, User]) -> User:
    return people["alice"]


@pytest.fixture
def bob(people: dict[str, User]) -> User:
    return people["bob"]


def stretch(user: User, period: Period = OCTOBER) -> Stretch:
    return Stretch(user, *period.moments(zone_of(user)))


def october(user: User) -> dict[str, Any]:
    return metrics_of(stretch(user))


def test_each_figure_comes_with_its_sample(alice: User, bob: User) -> None:
    busy_october(alice, bob)
    off = given(alice, bob, "不做了", on(3))
    moved(off, WorkStatus.CANCELLED, on(4))
    figures = october(bob)
    assert {name: figures[name] for name in ("events", "assigned", "in_hand", "done", "cancelled", "overdue")} == {
        **{"events": 9, "assigned": 5, "in_hand": 5, "done": 3, "cancelled": 1, "overdue": 1}
    }
    assert (figures["completion_rate"], figures["on_time_rate"], figures["on_time"]) == (0.75, 0.6667, 2)
    assert (figures["median_hours"], figures["mean_hours"]) == (24.0, 24.0)
    sizes = figures["sample_sizes"]
    assert (sizes["completion_rate"], sizes["on_time_rate"], sizes["median_hours"], sizes["overdue"]) == (4, 3, 3, 1)


def test_median_and_mean_differ_where_one_took_long(alice: User, bob: User) -> None:
    for day in (2, 3):
        done(alice, bob, at=day)
    slow = given(alice, bob, "久", on(1))
    moved(slow, WorkStatus.DONE, on(11))
    figures = october(bob)
    assert (figures["median_hours"], figures["mean_hours"]) == (24.0, 96.0)


def test_what_one_gives_oneself_counts_for_nothing(alice: User, bob: User) -> None:
    """No padding: not by tasks of one's own, and not by doing the same one again and again."""
    busy_october(alice, bob)
    before = october(bob)
    for day in range(2, 20):
        done(bob, bob, at=day)
    assert october(bob) == before
    old = given(alice, bob, "九月的", on(1, month=9))
    moved(old, WorkStatus.DONE, on(2, month=9))
    for day in range(2, 9):
        moved(old, WorkStatus.OPEN, on(day, 11))
        moved(old, WorkStatus.DONE, on(day, 12))
    assert october(bob) == before


def test_work_of_a_creator_whose_account_is_gone_still_counts(people: dict[str, User], bob: User) -> None:
    busy_october(people["grace"], bob)
    before = october(bob)
    people["grace"].delete()
    assert october(bob) == before


def test_it_stands_as_it_stood_at_the_end_of_the_period(alice: User, bob: User) -> None:
    """What was done later was not done in it, and what was opened again later was."""
    later = given(alice, bob, "十一月才做完", on(20), due_at=on(28))
    opened = done(alice, bob, "后来又打开", at=6)
    figures = october(bob)
    moved(later, WorkStatus.DONE, on(3, month=11))
    moved(opened, WorkStatus.OPEN, on(4, month=11))
    changed(alice, opened, on(5, month=11), due_at=on(30, month=11))
    assert october(bob) == figures
    assert (figures["done"], figures["overdue"]) == (1, 1)
    november = metrics_of(stretch(bob, Period(END + timedelta(days=1), END + timedelta(days=30))))
    assert (november["assigned"], november["in_hand"], november["done"], november["overdue"]) == (0, 2, 1, 1)


def test_a_task_that_was_opened_again_is_not_done(alice: User, bob: User) -> None:
    task = done(alice, bob, at=6)
    moved(task, WorkStatus.OPEN, on(8))
    assert (october(bob)["done"], october(bob)["in_hand"]) == (0, 1)
    moved(task, WorkStatus.DONE, on(16))
    assert (october(bob)["done"], work_of(stretch(bob))[0].ended_at) == (1, on(16))


def test_a_date_that_was_moved_later_counts_as_it_was(alice: User, bob: User) -> None:
    late = given(alice, bob, "延期", on(2), due_at=on(10))
    changed(alice, late, on(3, month=11), due_at=on(20, month=11))
    without = given(alice, bob, "原本没有期限", on(2))
    changed(alice, without, on(3, month=11), due_at=on(5))
    dropped = given(alice, bob, "不限期了", on(2), due_at=on(5))
    changed(alice, dropped, on(3), due_at=None)
    assert october(bob)["overdue"] == 1
    assert [item.due_at for item in work_of(stretch(bob))] == [None, None, on(10)]


def test_days_are_those_of_the_person(alice: User, bob: User) -> None:
    """Midnight of Shanghai on both ends; in Berlin it is another day."""
    for moment in (on(1, 0), on(31, 23)):
        given(alice, bob, "内", moment)
    for moment in (on(1, 0) - timedelta(seconds=1), on(1, 0, month=11)):
        moved(given(alice, bob, "外", moment), WorkStatus.CANCELLED, moment)
    assert (october(bob)["assigned"], october(bob)["in_hand"]) == (2, 2)
    UserProfile.objects.filter(pk=bob.pk).update(time_zone="Europe/Berlin")
    assert october(bob)["assigned"] == 2
    assert "外" in {item.title for item in work_of(stretch(bob))}


def test_too_little_is_no_rate(alice: User, bob: User) -> None:
    """P7: fewer than 5 events; and nothing is never 0 %."""
    nothing = october(bob)
    assert (nothing["events"], nothing["enough_data"], nothing["completion_rate"]) == (0, False, None)
    for day in (3, 4):
        done(alice, bob, at=day, due=on(20))
    little = october(bob)
    assert (little["events"], little["done"], little["enough_data"]) == (4, 2, False)
    rates = ("completion_rate", "on_time_rate", "median_hours", "mean_hours")
    assert [little[name] for name in rates] == [None] * 4
    given(alice, bob, "第五件", on(5))
    assert (october(bob)["enough_data"], october(bob)["completion_rate"]) == (True, 0.6667)


def test_a_rate_without_a_sample_is_null_however_much_happened(alice: User, bob: User) -> None:
    for day in range(1, 7):
        given(alice, bob, "x", on(day))
    figures = october(bob)
    assert (figures["completion_rate"], figures["on_time_rate"], figures["median_hours"]) == (0.0, None, None)


def test_flows_and_what_one_gave_stand_apart(people: dict[str, User], alice: User, bob: User) -> None:
    for day in (1, 2, 3):
        use(bob, 7, "任务分配", at=on(day))
    use(bob, 8, "周报", at=on(4))
    use(bob, 8, "周报", at=on(4, month=11))
    given(alice, people["dan"], "给别人的", on(5))
    context = october(bob)["context"]
    flows = [{"flow_id": 7, "flow_name": "任务分配", "count": 3}, {"flow_id": 8, "flow_name": "周报", "count": 1}]
    assert context == {"flows": flows, "work_given": 0}
    assert october(alice)["context"]["work_given"] == 1
    assert october(bob)["events"] == 0


def test_the_same_events_give_the_same_bytes(alice: User, bob: User) -> None:
    """Whatever happens to the tasks afterwards, and in whatever order the rows lie."""
    busy_october(alice, bob)
    before = json.dumps(october(bob))
    for task in WorkTask.objects.all():
        WorkTask.objects.filter(pk=task.pk).update(description="x")
        work.change(bob, task.pk, {"status": WorkStatus.IN_PROGRESS})
    given(alice, bob, "新的", on(2, month=11))
    events = list(WorkEvent.objects.order_by("-pk")[:3])
    WorkEvent.objects.filter(pk__in=[event.pk for event in events]).update(actor=alice)
    assert json.dumps(october(bob)) == before


@pytest.mark.parametrize(
    ("period", "field"),
    [
        (Period(END, START), "period_end"),
        (Period(START, END + timedelta(days=1)), "period_end"),
        (Period(END - timedelta(days=MOST_DAYS), END), "period_start"),
    ],
)
def test_no_period_runs_backwards_into_the_future_or_beyond_a_year(period: Period, field: str) -> None:
    Period(END - timedelta(days=MOST_DAYS - 1), END).check(END)
    Period(END, END).check(END)
    with pytest.raises(PeriodRefused) as refused:
        period.check(END)
    assert refused.value.field == field
