"""The card of a task that is to be given: read from what somebody said, and filled in when they say which person."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from flows.markdown import literal
from flows.nodes.base import DueFound, PersonFound, Proposal, Working
from flows.nodes.find_person import as_card, people_meant
from llm.text import shortened
from profiles.assignments import said_to, title_of

ASSIGN_WORK = "assign_work"
"""The kind of the card: `{title, description, assignee, candidates, due_at, due_text}`.

`title` is empty while somebody has to fill it in. `assignee` is `{user_id, display_name}`, or null while somebody has
to be chosen of `candidates`, which are `[{user_id, display_name, department, position}]`; `due_at` is UTC with Z, or
null; `due_text` is how it was said.
"""
TITLE_CHARS = 200
DESCRIPTION_CHARS = 5_000
LONGEST_REPLY = 60
_BEFORE, _BEHIND = r"那就|那|就|请|选|是|要|给|派给|交给|it's|it is|to|for", r"吧|的|呀|啊|please|thanks"
_AROUND = re.compile(rf"^(?:{_BEFORE})*\s*(?P<name>.+?)\s*(?:{_BEHIND})?$", re.IGNORECASE)
_EDGES = " \t\r\n,，。.!！:：“”\"'"


@dataclass(frozen=True, slots=True)
class Wish:
    """Work that somebody wants to give: whom it may be for, what it is, and when it is due if they said so."""

    people: tuple[PersonFound, ...]
    title: str
    description: str
    due: DueFound | None

    @classmethod
    async def read(cls, working: Working, *, words: str, assignee: str, due: str, **texts: str) -> "Wish":
        """Reads the wish. Without a `title` in `texts` it is made from `words`, which `description` then keeps whole.

        Where the sentence says to whom in a part of its own, names elsewhere are part of the work.
        """
        people = await people_meant(working, said_to(assignee) or assignee)
        found = await working.due_in(due)
        title, description = " ".join(texts.get("title", "").split()), texts.get("description", "").strip()
        if not title:
            said = [person.said for person in people if person.said]
            title = " ".join(title_of(words, said=said, due=found.words if found else "").split())
        if len(title) > TITLE_CHARS:
            description = description or words.strip()
            title = shortened(title, TITLE_CHARS)
        return cls(people, title, description[:DESCRIPTION_CHARS], found)


def proposal(wish: Wish) -> Proposal | None:
    """The card for a wish; None when nobody is meant. Nothing is guessed: of several, and of a past day, it asks."""
    if not wish.people:
        return None
    one = wish.people[0] if len(wish.people) == 1 else None
    past = wish.due is not None and wish.due.at <= timezone.now()
    at = wish.due.at if wish.due and not past else None
    card = {
        "title": wish.title,
        "description": wish.description,
        "assignee": one and {"user_id": one.user_id, "display_name": one.display_name},
        "candidates": [as_card(person) for person in wish.people],
        "due_at": at and _utc(at),
        "due_text": wish.due.words if wish.due else "",
    }
    lines = [_asked(card, at)]
    if past and wish.due:
        lines.append(_("“%(words)s” has passed. Choose another day, or none.") % {"words": literal(wish.due.words)})
    return Proposal(ASSIGN_WORK, card, "\n\n".join(lines))


async def retold(working: Working, words: str) -> Proposal | None:
    """The open card that the words complete by naming one of its candidates; None when they are no such reply."""
    names = _bare_names(words)
    waiting = await working.waiting() if names else None
    if waiting is None or waiting.kind != ASSIGN_WORK or len(waiting.card["candidates"]) < 2:
        return None
    candidates = {person["user_id"] for person in waiting.card["candidates"]}
    for name in names:
        meant = [person for person in await working.people_called(name) if person.user_id in candidates]
        if len(meant) == 1:
            chosen = {"user_id": meant[0].user_id, "display_name": meant[0].display_name}
            card = dict(waiting.card) | {"assignee": chosen}
            at = card["due_at"] and datetime.fromisoformat(card["due_at"]).astimezone(waiting.zone)
            return Proposal(ASSIGN_WORK, card, _asked(card, at), replaces=waiting.action_id)
    return None


def _bare_names(words: str) -> list[str]:
    """The names that the whole message may consist of: all of it, and without the little words around it."""
    text = words.strip(_EDGES)
    if not 0 < len(text) <= LONGEST_REPLY:
        return []
    match = _AROUND.match(text)
    return list(dict.fromkeys([text, match["name"].strip(_EDGES)] if match else [text]))


def _asked(card: Mapping[str, Any], due: datetime | None) -> str:
    """What the person is asked, in words: the card below it holds the same."""
    if card["assignee"] is None:
        names = pgettext("between names", ", ").join(literal(person["display_name"]) for person in card["candidates"])
        several = _("Several people may be meant: %(names)s. Choose one, then create the task.") % {"names": names}
        return several if card["title"] else f"{several}\n\n{_('Say what is to be done.')}"
    told = {"name": literal(card["assignee"]["display_name"]), "title": literal(card["title"])}
    if not card["title"]:
        return _("What is %(name)s to do? Fill in the title, then create the task.") % told
    if due is None:
        return _("Please check the task “%(title)s” for %(name)s, then create it.") % told
    told["due"] = date_format(due, "Y-m-d H:i")
    return _("Please check the task “%(title)s” for %(name)s, due %(due)s, then create it.") % told


def _utc(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
