"""A person's memories as a list: by words, flow, time, kind and name, with all that is shown of each."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Prefetch, Q, QuerySet

from memory.errors import EpisodeNotFound
from memory.models import Entity, Episode, Relation, Turn
from memory.models.episodes import key_of
from memory.neighbours import related_ids
from memory.person import Person

EQUAL = ("status", "pinned", "flow_id", "origin")
MOST_WORDS = 10


def listed(user: Person, asked: Mapping[str, Any]) -> "QuerySet[Episode]":
    """The memories of the user that pass these filters: `q`, `status`, `pinned`, `flow_id`, `origin`, `entity` (an id),
    and `from` and `to`, between which it was said."""
    found = Episode.objects.of(user).filter(**{name: asked[name] for name in EQUAL if name in asked})
    for word in str(asked.get("q", "")).split()[:MOST_WORDS]:
        found = found.filter(_named(word))
    if "entity" in asked:
        found = found.filter(entities=asked["entity"])
    since: datetime | None = asked.get("from")
    until: datetime | None = asked.get("to")
    found = found.filter(occurred_to__gte=since) if since else found
    return found.filter(occurred_from__lte=until) if until else found


def shown(user: Person, episode_id: UUID) -> Episode:
    """One memory of the user with all that is shown of it. Raises EpisodeNotFound."""
    found = list(with_parts(Episode.objects.of(user).filter(pk=episode_id)))
    if not found:
        raise EpisodeNotFound
    relate(user, found)
    return found[0]


def with_names(episodes: "QuerySet[Episode]") -> "QuerySet[Episode]":
    """With turns and entities, in as many queries for a page as for one."""
    return episodes.prefetch_related(
        Prefetch("turns", Turn.objects.only("id", "conversation_id", "flow_id", "started_at", "input").order_by("seq")),
        Prefetch("entities", Entity.objects.order_by("name")),
    )


def with_parts(episodes: "QuerySet[Episode]") -> "QuerySet[Episode]":
    """With relations too, as the API tells them."""
    relations = Relation.objects.select_related("source", "target").order_by("pk")
    return with_names(episodes).prefetch_related(Prefetch("relations", relations))


def relate(user: Person, episodes: Iterable[Episode]) -> None:
    """Gives each of these memories `related`: the ids of those that share names with it."""
    page = list(episodes)
    found = related_ids(user, [episode.pk for episode in page])
    for episode in page:
        episode.related = found[episode.pk]  # type: ignore[attr-defined]


def _named(word: str) -> Q:
    """A word may stand in the text, or in a name without its blanks and case."""
    told = Q(title__icontains=word) | Q(summary__icontains=word) | Q(keywords__icontains=word)
    named = Entity.episodes.through.objects.filter(entity__key__contains=key_of(word)).values("episode")
    return told | Q(pk__in=named)
