"""The figures of a report, and the work behind them: counted by SQL from what happened in the period.

What counts is work that somebody else gave to the person. How a task stood at the end of the period is read from its
history, so that what happened later changes nothing, and the same events give the same bytes. One that was done when
the period began and is done when it ends counts for nothing, however often it was opened in between.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import connection

from memory.person import Person
from memory.redaction import redact

ENOUGH = 5
"""Events, that is tasks given, done or cancelled, from which on a rate or a mean is told."""
COUNTS = ("assigned", "in_hand", "done", "cancelled", "overdue")
RATES = ("completion_rate", "on_time_rate", "median_hours", "mean_hours")
"""Null without a sample, and without enough events."""
NAMES = ("assigned", "in_hand", "done", "cancelled", "completion_rate", "on_time_rate", "overdue", *RATES[2:])
"""All of them, in the order in which they are shown."""
MOST_TASKS = 300
"""Tasks that a report tells; the figures count all."""
_WORK = """
    WITH task AS (
        SELECT t.id, t.title, t.created_at,
            coalesce(before.after, 'open') AS began, coalesce(last.after, 'open') AS ended, last.at AS ended_at,
            CASE WHEN due.id IS NOT NULL THEN nullif(due.after, '')::timestamptz
                WHEN due_later.id IS NOT NULL THEN nullif(due_later.before, '')::timestamptz ELSE t.due_at END AS due_at
        FROM profiles_worktask t
        LEFT JOIN LATERAL (SELECT e.after FROM profiles_workevent e WHERE e.task_id = t.id AND e.field = 'status'
            AND e.at < %(since)s ORDER BY e.at DESC, e.id DESC LIMIT 1) before ON true
        LEFT JOIN LATERAL (SELECT e.after, e.at FROM profiles_workevent e WHERE e.task_id = t.id AND e.field = 'status'
            AND e.at < %(until)s ORDER BY e.at DESC, e.id DESC LIMIT 1) last ON true
        LEFT JOIN LATERAL (SELECT e.id, e.after FROM profiles_workevent e WHERE e.task_id = t.id AND e.field = 'due_at'
            AND e.at < %(until)s ORDER BY e.at DESC, e.id DESC LIMIT 1) due ON true
        LEFT JOIN LATERAL (SELECT e.id, e.before FROM profiles_workevent e WHERE e.task_id = t.id
            AND e.field = 'due_at' AND e.at >= %(until)s ORDER BY e.at, e.id LIMIT 1) due_later ON true
        WHERE t.assignee_id = %(user)s AND t.creator_id IS DISTINCT FROM t.assignee_id AND t.created_at < %(until)s
    ), work AS (
        SELECT *, ended IN ('open', 'in_progress') AS unfinished,
            extract(epoch FROM ended_at - created_at) / 3600.0 AS hours
        FROM task WHERE created_at >= %(since)s OR began IN ('open', 'in_progress') OR ended IN ('open', 'in_progress')
    )
"""
_COUNT = f"""{_WORK}
    SELECT count(*) FILTER (WHERE created_at >= %(since)s), count(*),
        count(*) FILTER (WHERE ended = 'done'), count(*) FILTER (WHERE ended = 'cancelled'),
        count(*) FILTER (WHERE unfinished AND due_at < %(until)s),
        count(*) FILTER (WHERE unfinished AND due_at IS NOT NULL),
        count(*) FILTER (WHERE ended = 'done' AND ended_at <= due_at),
        count(*) FILTER (WHERE ended = 'done' AND due_at IS NOT NULL),
        round((percentile_cont(0.5) WITHIN GROUP (ORDER BY hours::float8) FILTER (WHERE ended = 'done'))::numeric, 2),
        round(avg(hours) FILTER (WHERE ended = 'done'), 2)
    FROM work
"""  # noqa: S608  # constants alone, here and below
_LIST = f"""{_WORK}
    SELECT id, title, created_at, due_at, ended, CASE WHEN unfinished THEN NULL ELSE ended_at END,
        unfinished AND due_at < %(until)s
    FROM work ORDER BY created_at DESC, id DESC LIMIT {MOST_TASKS}
"""  # noqa: S608
_FLOWS = """
    SELECT flow_id, (array_agg(flow_name ORDER BY at DESC, turn_id))[1], count(*) FROM profiles_flowuse
    WHERE user_id = %(user)s AND at >= %(since)s AND at < %(until)s GROUP BY flow_id ORDER BY count(*) DESC, flow_id
"""
_GIVEN = """
    SELECT count(*) FROM profiles_worktask WHERE creator_id = %(user)s AND assignee_id <> %(user)s
    AND created_at >= %(since)s AND created_at < %(until)s
"""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Whose work from when on and until before when; both aware."""

    user: Person
    since: datetime
    until: datetime

    @property
    def parameters(self) -> dict[str, Any]:
        return {"user": self.user.pk, "since": self.since, "until": self.until}


@dataclass(frozen=True, slots=True)
class Work:
    """One task as it stood at the end of the period. `ended_at`: when it was done or cancelled."""

    task_id: int
    title: str
    given_at: datetime
    due_at: datetime | None
    status: str
    ended_at: datetime | None
    is_overdue: bool

    @property
    def is_on_time(self) -> bool | None:
        """Whether it was done when it was due; None for one without a date, or not done."""
        return None if self.status != "done" or not (self.due_at and self.ended_at) else self.ended_at <= self.due_at


def metrics_of(stretch: Stretch) -> dict[str, Any]:
    """`{events, enough_data, …counts, …rates, on_time, sample_sizes: {name: n}, context: {flows, work_given}}`.

    Rates are shares of one, rounded to 4 places, hours rounded to 2.
    """
    assigned, in_hand, done, cancelled, overdue, awaited, on_time, dated, median, mean = _rows(_COUNT, stretch)[0]
    events, to_do = assigned + done + cancelled, in_hand - cancelled
    rates = {
        "completion_rate": _share(done, to_do),
        "on_time_rate": _share(on_time, dated),
        "median_hours": None if median is None else float(median),
        "mean_hours": None if mean is None else float(mean),
    }
    enough = events >= ENOUGH
    return {
        **{"events": events, "enough_data": enough, "assigned": assigned, "in_hand": in_hand, "done": done},
        **{"cancelled": cancelled, "overdue": overdue, "on_time": on_time},
        **{name: value if enough else None for name, value in rates.items()},
        "sample_sizes": {
            **{"assigned": assigned, "in_hand": in_hand, "done": in_hand, "cancelled": in_hand, "overdue": awaited},
            **{"completion_rate": to_do, "on_time_rate": dated, "median_hours": done, "mean_hours": done},
        },
        "context": {"flows": _flows(stretch), "work_given": _rows(_GIVEN, stretch)[0][0]},
    }


def work_of(stretch: Stretch) -> list[Work]:
    """The tasks that were counted, the newest first."""
    return [Work(pk, title, *rest) for pk, title, *rest in _rows(_LIST, stretch)]


def _flows(stretch: Stretch) -> list[dict[str, Any]]:
    rows = _rows(_FLOWS, stretch)
    return [{"flow_id": flow_id, "flow_name": redact(name), "count": count} for flow_id, name, count in rows]


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _rows(statement: str, stretch: Stretch) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, stretch.parameters)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def stamp(moment: datetime | None) -> str | None:
    """A moment as it is stored: UTC, to the second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment else None
