"""What the memory page shows: which memories, what may be chosen, the switches, and what was spent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.core.paginator import Page, Paginator
from django.db.models import Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from llm.text import safe, shortened
from memory.listing import listed, relate, with_names
from memory.models import (
    Conversation,
    Entity,
    EntityKind,
    Episode,
    EpisodeOrigin,
    EpisodeStatus,
    ForgetfulFlow,
    JobKind,
    MemoryOwner,
    TokenUse,
)
from memory.person import Person

A_PAGE = 30
SPENT_DAYS = 30
RELATED = 3
"""Of the related memories, how many one is offered."""
IMPORTANT = 5
WORDS_CHARS = 90
WHICH: Mapping[str, Mapping[str, Any]] = {
    "": {"status": EpisodeStatus.ACTIVE},
    "talks": {"status": EpisodeStatus.ACTIVE, "origin__in": (EpisodeOrigin.EXTRACTED, EpisodeOrigin.EXTRACTIVE)},
    "own": {"status": EpisodeStatus.ACTIVE, "origin__in": (EpisodeOrigin.SAID, EpisodeOrigin.MANUAL)},
    "pinned": {"status": EpisodeStatus.ACTIVE, "pinned": True},
    "resting": {"status": EpisodeStatus.ARCHIVED},
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What the page is asked to show. Whatever makes no sense is as good as not said."""

    words: str = ""
    flow: int | None = None
    which: str = ""
    since: date | None = None
    until: date | None = None
    entity: int | None = None
    memory: UUID | None = None

    @classmethod
    def of(cls, given: Mapping[str, str]) -> "Asked":
        """From the query of an address."""
        which = given.get("which", "")
        return cls(
            words=safe(given.get("q", "")).strip()[:200],
            flow=_number(given.get("flow", "")),
            which=which if which in WHICH else "",
            since=_day(given.get("from", "")),
            until=_day(given.get("to", "")),
            entity=_number(given.get("entity", "")),
            memory=_id(given.get("memory", "")),
        )

    @property
    def is_narrow(self) -> bool:
        """Whether not everything that is remembered is asked for."""
        return self != Asked()

    def page(self, user: Person, number: str) -> Page[Any]:
        """A page of the memories, pinned ones first, each with its parts."""
        rows = with_names(self._rows(user)).select_related("conversation").order_by("-pinned", "-occurred_to", "-pk")
        page: Page[Any] = Paginator(rows, A_PAGE).get_page(number)
        page.object_list = shown_as(user, list(page.object_list))
        return page

    def next_address(self, page: Page[Any]) -> str:
        """The query of the page behind this one; empty without one."""
        if not page.has_next():
            return ""
        said = {"q": self.words, "flow": self.flow, "which": self.which, "from": self.since, "to": self.until}
        said |= {"entity": self.entity, "page": page.next_page_number()}
        return urlencode({name: value for name, value in said.items() if value})

    def _rows(self, user: Person) -> Any:
        if self.memory:
            return Episode.objects.of(user).filter(pk=self.memory)
        asked: dict[str, Any] = {"q": self.words, "flow_id": self.flow, "entity": self.entity}
        asked |= {"from": _start(self.since), "to": _start(self.until, days=1)}
        return listed(user, {name: value for name, value in asked.items() if value}).filter(**WHICH[self.which])


@dataclass(frozen=True)
class Shown:
    """One memory as the page shows it."""

    episode: Episode
    related: Sequence[Episode] = field(default_factory=list)

    @property
    def heading(self) -> str:
        """Its title, where the summary does not begin with it."""
        title = self.episode.title
        return "" if self.episode.summary.startswith(title.rstrip("…")) else title

    @property
    def is_important(self) -> bool:
        return self.episode.importance >= IMPORTANT

    @property
    def fields(self) -> dict[str, Any]:
        """What the form for editing begins with."""
        return {"title": self.episode.title, "summary": self.episode.summary, "keywords": self.episode.keywords}

    @cached_property
    def sources(self) -> list[tuple[Any, str]]:
        """The turns that it was made from, each with the beginning of its words."""
        return [(turn, _beginning(turn.input)) for turn in self.episode.turns.all()]


def shown_as(user: Person, episodes: list[Episode]) -> list[Shown]:
    """Memories with those that belong to them, in as many queries for a page as for one."""
    relate(user, episodes)
    wanted = {pk for episode in episodes for pk in episode.related[:RELATED]}  # type: ignore[attr-defined]
    found = Episode.objects.of(user).in_bulk(wanted)
    return [
        Shown(episode, [found[pk] for pk in episode.related[:RELATED] if pk in found])  # type: ignore[attr-defined]
        for episode in episodes
    ]


def flows_of(user: Person) -> list[tuple[int, str]]:
    """The flows that the user has memories of, with their names."""
    known = Episode.objects.of(user).exclude(flow_id=None).values("flow_id")
    talked = Conversation.objects.visible_to(user).filter(flow_id__in=known)
    return sorted(dict(talked.order_by("last_active_at").values_list("flow_id", "flow_name")).items())


def entity_of(user: Person, asked: Asked) -> Entity | None:
    """The name that the list is narrowed to."""
    return Entity.objects.of(user).filter(pk=asked.entity).first() if asked.entity else None


def switches_of(user: Person) -> MemoryOwner:
    """The switches, at their defaults for somebody who never turned one."""
    return MemoryOwner.objects.filter(user_id=user.pk).first() or MemoryOwner(user_id=user.pk)


def flow_switches(user: Person) -> list[tuple[int, str, bool]]:
    """The flows that the user has talked with, by name, and whether what is said there is remembered."""
    off = dict(ForgetfulFlow.objects.of(user).values_list("flow_id", "flow_name"))
    talked = Conversation.objects.visible_to(user).order_by("flow_id", "-last_active_at").distinct("flow_id")
    known = off | dict(talked.values_list("flow_id", "flow_name"))
    return sorted(((pk, name, pk not in off) for pk, name in known.items()), key=lambda flow: (flow[1], flow[0]))


def spent_by(user: Person) -> list[tuple[str, int, int]]:
    """What jobs of memory spent of late: what for, how many calls, how many tokens."""
    since = timezone.now().date() - timedelta(days=SPENT_DAYS)
    sums = TokenUse.objects.of(user).filter(day__gt=since).values_list("kind")
    rows = sums.annotate(Sum("calls"), Sum("prompt_tokens"), Sum("completion_tokens")).order_by("kind")
    return [(str(JobKind(kind).label), calls, sent + written) for kind, calls, sent, written in rows]


def which_choices() -> list[tuple[str, str]]:
    """The kinds that the list can be narrowed to."""
    labels = (_("Everything"), _("From conversations"), _("In my own words"), _("Pinned"), _("At rest"))
    return list(zip(WHICH, labels, strict=True))


def kind_choices() -> list[tuple[str, str]]:
    """What names name, as the map shows it."""
    return [(kind.value, str(kind.label)) for kind in EntityKind]


def page_text() -> dict[str, str]:
    """The sentences of the page's scripts. Parts in braces are replaced by them."""
    return {
        "deleted": _("Deleted: “{title}”"),
        "undo": _("Undo"),
        "restored": _("It is remembered again."),
        "tooLate": _("It is too late to take this back."),
        "saved": _("Saved."),
        "added": _("Remembered."),
        "known": _("This was remembered already."),
        "failed": _("This did not work. Check the connection and try again."),
        "found": _("{n} memories"),
        "foundOne": _("One memory"),
        "foundNone": _("No memories"),
        "mapAway": _("The map could not be read. The list beside it still works."),
        "again": _("Try again"),
        "memories": _("named in {n} memories"),
        "memoriesOne": _("named in one memory"),
        "mapLabel": _("A map of {nodes} names and {edges} relations. The list below it says the same."),
        "noLonger": _("No longer so"),
        "stillSo": _("Still so"),
        "ended": _("until {day}"),
        "eraseTitle": _("Erase everything?"),
        "eraseText": _(
            "All your conversations in all flows go, with their messages, summaries and everything that was "
            "remembered about you. Your tasks and your profile stay. This cannot be undone."
        ),
        "erase": _("Erase everything"),
    }


def _beginning(words: str) -> str:
    line = " ".join(words.split())
    return shortened(line, WORDS_CHARS)


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else None


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _start(day: date | None, *, days: int = 0) -> datetime | None:
    """The beginning of a day in the reader's zone, or of one so many days later."""
    try:
        return timezone.make_aware(datetime.combine(day + timedelta(days=days), time())) if day else None
    except OverflowError:
        return None
