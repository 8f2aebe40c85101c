"""The memories behind an answer as its reader sees them: the day, the words, and the way to where they were said."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from flows.markdown import render
from llm.text import shortened
from memory.models import Episode, Turn
from memory.person import Person

QUOTE_CHARS = 120


@dataclass(frozen=True, slots=True)
class Source:
    """One memory: when it was said, its beginning, the whole of it, and the address of where it stands."""

    at: datetime
    quote: str
    text: str
    answer: SafeString
    link: str
    address: str


def count_label(memory_used: dict[str, Any]) -> str:
    """How many memories an answer used, in words; nothing when it used none."""
    count = sum(len(memory_used.get(kind, ())) for kind in ("turns", "episodes"))
    return count_template(count).format(n=count) if count else ""


def count_template(count: int) -> str:
    """The words for so many memories, with `{n}` in the number's place."""
    return ngettext("{n} memory used", "{n} memories used", count)


def sources(user: Person, turn: Turn) -> list[Source]:
    """The memories that `turn` used, episodes before turns, those that still exist."""
    return [*_episodes(user, turn), *_turns(user, turn)]


def _episodes(user: Person, turn: Turn) -> list[Source]:
    wanted = [used["episode_id"] for used in turn.memory_used.get("episodes", ())]
    found = {str(episode.pk): episode for episode in Episode.objects.of(user).filter(pk__in=wanted)}
    page = reverse("memory_page")
    return [
        Source(
            at=episode.occurred_to,
            quote=_beginning(episode.summary),
            text=episode.summary,
            answer=SafeString(),
            link=_("Show on the memory page"),
            address=f"{page}?{urlencode({'memory': episode.pk})}",
        )
        for episode in (found[key] for key in wanted if key in found)
    ]


def _turns(user: Person, turn: Turn) -> list[Source]:
    wanted = [used["turn_id"] for used in turn.memory_used.get("turns", ())]
    rows = Turn.objects.visible_to(user).filter(pk__in=wanted).select_related("conversation")
    found = {str(said.pk): said for said in rows}
    return [
        Source(
            at=said.started_at,
            quote=_beginning(said.input),
            text=said.input,
            answer=mark_safe(render(said.output)),  # noqa: S308  # render sanitises
            link=_("Open “%(title)s”") % {"title": said.conversation.title},
            address=f"{_place_of(said)}?{urlencode({'at': said.pk})}",
        )
        for said in (found[key] for key in wanted if key in found)
    ]


def _place_of(turn: Turn) -> str:
    return reverse("chat_session", args=[turn.flow_id, turn.conversation_id])


def _beginning(text: str) -> str:
    words = " ".join(text.split())
    return shortened(words, QUOTE_CHARS)
