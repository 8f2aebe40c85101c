"""The unfinished work of a person, as a model is told of it before it answers (P6)."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from django.db import connection
from django.utils import timezone

from llm import tokens
from memory.person import Person
from profiles.models import WorkStatus

KIND, TITLE = "work", "[我的任务]"
ROOM = 200
"""Tokens of the lines at most."""
MOST = 20
"""Tasks that are looked at: more never fit."""
TITLE_TOKENS = 40
DAYS = "一二三四五六日"
STATUSES = {WorkStatus.OPEN.value: "待办", WorkStatus.IN_PROGRESS.value: "进行中"}
# Written out: it is asked before every answer, and Django takes longer to write it than PostgreSQL to answer.
_NEW = "task.seen_at IS NULL AND task.creator_id IS DISTINCT FROM task.assignee_id"
_TASKS = f"""
    SELECT task.title, task.status, task.due_at, {_NEW}, task.creator_id = task.assignee_id,
        coalesce(nullif(giver.display_name, ''), account.username, ''), own.time_zone, count(*) OVER ()
    FROM profiles_worktask task
    LEFT JOIN profiles_userprofile own ON own.user_id = task.assignee_id
    LEFT JOIN auth_user account ON account.id = task.creator_id
    LEFT JOIN profiles_userprofile giver ON giver.user_id = task.creator_id
    LEFT JOIN memory_memoryowner owner ON owner.user_id = task.assignee_id
    WHERE task.assignee_id = %s AND task.status IN ('open', 'in_progress') AND owner.portrait_enabled IS NOT FALSE
    ORDER BY CASE WHEN {_NEW} THEN task.created_at END DESC NULLS LAST, task.due_at ASC NULLS LAST, task.id DESC
    LIMIT {MOST}
"""  # noqa: S608  # constants alone


class _Row(NamedTuple):
    """One unfinished task, as the statement gives it; `of_all` is how many there are."""

    title: str
    status: str
    due_at: datetime | None
    is_new: bool
    is_own: bool | None
    giver: str
    zone: str | None
    of_all: int


def work_context_of(user: Person) -> str:
    """One line for each unfinished task that fits, without the title; empty where there is none.

    What somebody else gave and the person has not looked at stands first, the newest before the older ones; then what
    is due, the first before the later ones. Nothing for somebody who switched the portrait off.
    """
    now = timezone.now()
    rows = _unfinished(user)
    return _within([_line(row, now) for row in rows], of_all=rows[0].of_all if rows else 0)


def _unfinished(user: Person) -> list[_Row]:
    with connection.cursor() as cursor:
        cursor.execute(_TASKS, [user.pk])
        return [_Row(*row) for row in cursor.fetchall()]


def _line(row: _Row, now: datetime) -> str:
    mark = "[新] " if row.is_new else ""
    giver = "自己安排" if row.is_own else f"{_plain(row.giver)} 指派" if row.giver else ""
    parts = (tokens.cut(_plain(row.title), TITLE_TOKENS), giver, _due(row, now), STATUSES[row.status])
    return f"- {mark}" + " | ".join(part for part in parts if part)


def _due(row: _Row, now: datetime) -> str:
    if row.due_at is None:
        return ""
    at = row.due_at.astimezone(ZoneInfo(row.zone or "Asia/Shanghai"))
    overdue = " 已逾期" if at < now else ""
    return f"截止 {at:%Y-%m-%d %H:%M} (周{DAYS[at.weekday()]}){overdue}"


def _plain(text: str) -> str:
    """One line without the mark between the parts: a title is somebody else's text, and no part but its own."""
    return " ".join(text.replace("|", "｜").split())


def _within(lines: Sequence[str], *, of_all: int) -> str:
    """As many lines as there is room for, and how many tasks there are besides."""
    kept: list[str] = []
    room = ROOM - tokens.count(_more(of_all))
    for line in lines:
        room -= tokens.count(line) + 1
        if room < 0:
            break
        kept.append(line)
    left = of_all - len(kept)
    return "\n".join([*kept, _more(left)] if left else kept)


def _more(count: int) -> str:
    return f"- 另有 {count} 项" if count else ""
