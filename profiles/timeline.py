"""What happened in somebody's work, day by day, as those above see it: changes of tasks, and how often flows ran.

Days are those of the person, whoever looks, and no hour is told: hours are for their own eyes. Of flows there is a
count for each day that is over, and nothing of what was said. `days_of_flows` is shown to the person too.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from zoneinfo import ZoneInfo

from django.db.models import Count, Max, Q
from django.db.models.functions import TruncDate
from django.utils import timezone

from memory.person import Person
from profiles.models import FlowUse, WorkEvent, WorkTask
from profiles.reports.period import Period
from profiles.task_page import event_sentence

MOST_EVENTS = 1000
"""Changes that a timeline goes back to at most; the newest are told."""


@dataclass(frozen=True, slots=True)
class Happened:
    """A change of a task: its title, and who did what."""

    task_id: int
    title: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Day:
    """What there is to tell of one day. `flows` are names with counts."""

    day: date
    work: list[Happened] = field(default_factory=list)
    flows: list[tuple[str, int]] = field(default_factory=list)


def days_of(viewer: Person, subject: Person, period: Period, zone: ZoneInfo) -> list[Day]:
    """The days of the period on which something happened, the newest first. `zone` is the subject's."""
    days: dict[date, Day] = {}
    for happened_on, happened in _work(viewer, subject, period, zone):
        days.setdefault(happened_on, Day(happened_on)).work.append(happened)
    for used_on, flows in days_of_flows(subject, period, zone).items():
        days.setdefault(used_on, Day(used_on)).flows.extend(flows)
    return sorted(days.values(), key=lambda day: day.day, reverse=True)


def days_of_flows(subject: Person, period: Period, zone: ZoneInfo) -> dict[date, list[tuple[str, int]]]:
    """How often which flow was used on each day that is over, the newest first. `zone` is the subject's."""
    since, until = period.moments(zone)
    today = timezone.localtime(timezone=zone).replace(hour=0, minute=0, second=0, microsecond=0)
    uses = FlowUse.objects.of(subject).filter(at__gte=since, at__lt=min(until, today)).order_by()
    counted = uses.annotate(day=TruncDate("at", tzinfo=zone)).values("day", "flow_id")
    rows = counted.annotate(name=Max("flow_name"), times=Count("pk")).order_by("-day", "-times", "name")
    days: dict[date, list[tuple[str, int]]] = defaultdict(list)
    for row in rows:
        days[row["day"]].append((row["name"], row["times"]))
    return dict(days)  # a template that asks a defaultdict for its items gets a new entry


def _work(viewer: Person, subject: Person, period: Period, zone: ZoneInfo) -> Sequence[tuple[date, Happened]]:
    """Changes of the tasks that the person does or gave, as far as the viewer may see these; the newest first."""
    since, until = period.moments(zone)
    theirs = Q(assignee_id=subject.pk) | Q(creator_id=subject.pk)
    tasks = WorkTask.objects.visible_to(viewer).filter(theirs).order_by()
    events = WorkEvent.objects.filter(task__in=tasks.values("pk"), at__gte=since, at__lt=until)
    named = events.select_related("task", "actor__profile").order_by("-at", "-pk")[:MOST_EVENTS]
    return [
        (timezone.localdate(event.at, zone), Happened(event.task_id, event.task.title, event_sentence(event)))
        for event in named
    ]
