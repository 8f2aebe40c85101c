"""What the page with tasks shows: which tasks, in which order, and each with its history in words."""

import json
import re
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.utils.formats import date_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.person import Person
from profiles import work
from profiles.models import WorkEvent, WorkStatus, WorkTask
from profiles.task_forms import shown_in_form

PAGE = 60
MINE, TEAM = "mine", "team"
SHOWN: dict[str, str | Promise] = {
    "unfinished": gettext_lazy("Unfinished"),
    "overdue": gettext_lazy("Overdue"),
    "in_progress": gettext_lazy("In progress"),
    "done": gettext_lazy("Done"),
    "cancelled": gettext_lazy("Cancelled"),
    "all": gettext_lazy("All"),
}
"""The filters, in their order; the first is what one sees without asking."""
FIRST = "1"
_NUMBER = re.compile(r"[0-9]{1,18}")
_USUAL = {"tab": MINE, "show": "unfinished", "page": FIRST}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for; anything it says that is not known counts as left out.

    `task` is one that is to be on the page, wherever it stands in the list; 0 for none.
    """

    tab: str
    show: str
    page: str = FIRST
    task: int = 0

    @classmethod
    def of(cls, query: QueryDict) -> "Asked":
        tab, show, page, task = (query.get(name, "") for name in ("tab", "show", "page", "task"))
        return cls(
            TEAM if tab == TEAM else MINE,
            show if show in SHOWN else "unfinished",
            page if _NUMBER.fullmatch(page) else FIRST,
            int(task) if _NUMBER.fullmatch(task) else 0,
        )

    def address(self, **other: Any) -> str:
        """The query of the list from its beginning, or with another tab, filter, page or task."""
        wanted = {"tab": self.tab, "show": self.show} | other
        left = {name: value for name, value in wanted.items() if value != _USUAL.get(name)}
        return "?" + "&".join(f"{name}={value}" for name, value in left.items())

    @property
    def here(self) -> str:
        """The query of this very page of the list."""
        return self.address(page=self.page)


def address_of(task_id: int, *, is_mine: bool) -> str:
    """Where somebody finds a task, in whatever state it is by then and however long the list is."""
    asked = Asked(MINE if is_mine else TEAM, "all")
    return f"{reverse('tasks')}{asked.address(task=task_id)}#task-{task_id}"


@dataclass(frozen=True, slots=True)
class ShownTask:
    """A task as one person sees it."""

    task: WorkTask
    from_somebody_else: str
    is_new: bool
    may_edit: bool
    moves: list[tuple[str, str]]
    history: list[tuple[datetime, str]]
    form: str


@dataclass(frozen=True, slots=True)
class Pile:
    """The tasks of one person."""

    name: str
    tasks: list[ShownTask]


def tasks_for(user: Person, asked: Asked) -> QuerySet[WorkTask]:
    """One's own, or those of the team and what one gave to others; the most urgent first."""
    visible = WorkTask.objects.visible_to(user)
    tasks = visible.exclude(assignee_id=user.pk) if asked.tab == TEAM else visible.filter(assignee_id=user.pk)
    if asked.show == "unfinished":
        tasks = tasks.unfinished()
    elif asked.show == "overdue":
        tasks = tasks.overdue()
    elif asked.show != "all":
        tasks = tasks.filter(status=asked.show)
    return tasks.by_urgency()


def context(request: HttpRequest, asked: Asked) -> dict[str, Any]:
    """Everything that the list of the page needs."""
    user: Any = request.user
    tasks = tasks_for(user, asked)
    if asked.tab == TEAM:
        tasks = tasks.order_by("assignee__profile__display_name", "assignee_id", *tasks.query.order_by)
    related = tasks.select_related("assignee__profile", "creator__profile").prefetch_related("events__actor__profile")
    pages = Paginator(related, PAGE)
    page = pages.get_page(_place(tasks, asked.task) or asked.page)
    asked = replace(asked, page=str(page.number))
    return {
        "asked": asked,
        "other_pages": _other_pages(page, asked),
        "piles": _piles(user, page, asked),
        "rows": page,
        "tabs": [(asked.address(tab=tab), label, tab == asked.tab) for tab, label in _tabs()],
        "filters": [(asked.address(show=show), label, show == asked.show) for show, label in SHOWN.items()],
    }


def _place(tasks: QuerySet[WorkTask], task_id: int) -> int | None:
    """The page on which the task stands, None where the list has no such task."""
    ids = list(tasks.values_list("pk", flat=True)) if task_id else []
    return ids.index(task_id) // PAGE + 1 if task_id in ids else None


def _other_pages(page: Page[WorkTask], asked: Asked) -> list[tuple[str, str]]:
    """Addresses and names of the pages before and behind this one."""
    found = []
    if page.has_previous():
        found.append((asked.address(page=page.previous_page_number()), _("Earlier in the list")))
    if page.has_next():
        found.append((asked.address(page=page.next_page_number()), _("Further in the list")))
    return found


def _tabs() -> tuple[tuple[str, str], ...]:
    return (MINE, _("My work")), (TEAM, _("Team work"))


def _piles(user: Any, page: Page[WorkTask], asked: Asked) -> list[Pile]:
    if asked.tab == MINE:
        shown = [_shown(user, task) for task in page]
        return [Pile("", shown)] if shown else []
    people = groupby(page, key=lambda task: task.assignee)
    return [Pile(name_of(person), [_shown(user, task) for task in tasks]) for person, tasks in people]


def _shown(user: Any, task: WorkTask) -> ShownTask:
    others = task.creator_id != task.assignee_id and task.creator_id != user.pk
    return ShownTask(
        task=task,
        from_somebody_else=name_of(task.creator) if others else "",
        is_new=task.assignee_id == user.pk and others and task.seen_at is None,
        may_edit=work.may_edit(user, task),
        moves=_moves(task) if work.may_move(user, task) else [],
        history=[(event.at, event_sentence(event)) for event in task.events.all()],
        form=json.dumps(shown_in_form(task), ensure_ascii=False),
    )


def _moves(task: WorkTask) -> list[tuple[str, str]]:
    """The other statuses that the assignee may move the task to, with the words of their buttons."""
    words = {
        WorkStatus.OPEN: _("Put back"),
        WorkStatus.IN_PROGRESS: _("Take up again") if task.status == WorkStatus.DONE else _("Start"),
        WorkStatus.DONE: _("Done"),
    }
    return [(status.value, words[status]) for status in work.MOVES if status != task.status]


def name_of(person: Any) -> str:
    """How a person is called; somebody whose account is gone is somebody."""
    return str(getattr(person, "profile", None) or person) if person else _("somebody")


def event_sentence(event: WorkEvent) -> str:
    """What happened, in words."""
    who = name_of(event.actor)
    match event.field:
        case "created":
            return _("%(who)s gave the task.") % {"who": who}
        case "status":
            return _("%(who)s: %(before)s → %(after)s") % ({"who": who} | _statuses(event))
        case "due_at":
            return _("%(who)s changed when it is due: %(before)s → %(after)s") % ({"who": who} | _moments(event))
        case "title":
            return _("%(who)s changed the title; it was “%(before)s”.") % {"who": who, "before": event.before}
        case _:
            return _("%(who)s changed the description.") % {"who": who}


def _statuses(event: WorkEvent) -> dict[str, Any]:
    return {"before": WorkStatus(event.before).label, "after": WorkStatus(event.after).label}


def _moments(event: WorkEvent) -> dict[str, str]:
    return {"before": _moment(event.before), "after": _moment(event.after)}


def _moment(text: str) -> str:
    parsed = parse_datetime(text) if text else None
    return date_format(timezone.localtime(parsed), "Y-m-d H:i") if parsed else _("no date")


def page_text() -> dict[str, str]:
    """The sentences that the page's script shows."""
    return {
        "newTask": _("New task"),
        "editTask": _("Edit the task"),
        "give": _("Give"),
        "save": _("Save"),
        "myself": _("Myself"),
        "peopleAway": _("The list of people could not be loaded. Close this and try again."),
        "cancelTitle": _("Cancel this task?"),
        "cancelText": _("“{title}” stays in the list of cancelled tasks. The person who does it sees that it is off."),
        "cancelTask": _("Cancel the task"),
    }
