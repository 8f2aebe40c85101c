"""Charts of work: numbers with their names. A page tells them as a table, and its script draws them from that table."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Count, DateTimeField, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, TruncWeek
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from profiles.models import WorkEvent, WorkStatus
from profiles.models.work import WorkTaskQuerySet
from profiles.reports.period import Period

WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Series:
    """One line or colour of a chart. `look` is its class in css/admin_charts.css; a line is drawn over the bars."""

    name: str
    look: str
    values: Sequence[int]
    is_line: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """Series over the same labels, which `axis` names."""

    title: str
    axis: str
    labels: Sequence[str]
    series: Sequence[Series]

    @property
    def is_empty(self) -> bool:
        return not any(any(series.values) for series in self.series)

    @property
    def rows(self) -> list[tuple[str, list[int]]]:
        """The table: each label with the numbers of its series."""
        return [(label, [series.values[number] for series in self.series]) for number, label in enumerate(self.labels)]


@dataclass(frozen=True, slots=True)
class Bar:
    """One of several counts: `share` is in per cent of the largest."""

    name: str
    count: int
    share: int


def bars(counts: Sequence[tuple[str, int]]) -> list[Bar]:
    """Counts side by side, in their order."""
    most = max((count for _name, count in counts), default=0)
    return [Bar(name, count, round(100 * count / most) if most else 0) for name, count in counts]


def last_weeks(number: int, zone: ZoneInfo) -> Period:
    """So many weeks, the running one among them."""
    today = timezone.localdate(timezone=zone)
    return Period(today - timedelta(days=today.weekday()) - WEEK * (number - 1), today)


def work_by_week(tasks: WorkTaskQuerySet, period: Period, zone: ZoneInfo, *, with_overdue: bool = False) -> Chart:
    """What was given and done in each week that has a day of the period, and what was late at its end."""
    mondays = _mondays(period)
    series = [
        Series(_("Given"), "given", _each(tasks, "created_at", mondays, zone)),
        Series(_("Done"), "done", _each(tasks, "completed_at", mondays, zone)),
    ]
    if with_overdue:
        late = Series(_("Overdue at the week's end"), "overdue", _overdue(tasks, mondays, zone), is_line=True)
        series.append(late)
    labels = [date_format(monday, "m-d") for monday in mondays]
    return Chart(_("Tasks by week"), _("Week from"), labels, series)


def _mondays(period: Period) -> list[date]:
    first = period.start - timedelta(days=period.start.weekday())
    return [first + WEEK * number for number in range((period.end - first).days // 7 + 1)]


def _each(tasks: WorkTaskQuerySet, field: str, mondays: Sequence[date], zone: ZoneInfo) -> list[int]:
    """How many of the tasks have the moment `field` in each week."""
    since, until = _begins(mondays[0], zone), _begins(mondays[-1] + WEEK, zone)
    within = tasks.filter(**{f"{field}__gte": since, f"{field}__lt": until}).order_by()
    rows = within.annotate(week=TruncWeek(field, tzinfo=zone)).values_list("week").annotate(tasks=Count("pk"))
    found = {week.astimezone(zone).date(): number for week, number in rows}
    return [found.get(monday, 0) for monday in mondays]


def _overdue(tasks: WorkTaskQuerySet, mondays: Sequence[date], zone: ZoneInfo) -> list[int]:
    """How many were late and unfinished when each week ended, the last one now; by the day they are due today."""
    cancelled = WorkEvent.objects.filter(task=OuterRef("pk"), field="status", after=WorkStatus.CANCELLED)
    off = Subquery(cancelled.order_by("-at").values("at")[:1], output_field=DateTimeField())
    now, since = timezone.now(), _begins(mondays[0], zone)
    late = tasks.order_by().annotate(ended=Coalesce("completed_at", off)).filter(due_at__lt=now)
    late = late.filter(Q(ended=None) | Q(ended__gt=F("due_at")) & Q(ended__gt=since))
    ends = [min(_begins(monday + WEEK, zone), now) for monday in mondays]
    spans = list(late.values_list("due_at", "ended"))
    return [sum(due < end and (ended is None or ended >= end) for due, ended in spans if due) for end in ends]


def _begins(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time.min, zone)
