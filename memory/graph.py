"""A person's entities and relations as one picture: what is named most, and how it hangs together."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet

from memory.models import Entity, EpisodeStatus, Relation
from memory.models.episodes import key_of
from memory.person import Person

MOST_NODES, MOST_EDGES = 500, 2000
EDGE = ("id", "source", "target", "relation", "valid_from", "invalid_at")
SHOWN = (EpisodeStatus.ACTIVE, EpisodeStatus.ARCHIVED)
"""Whose names are on the map. What was merged says the same as another that is counted."""


@dataclass(frozen=True, slots=True)
class Map:
    """The entities, the weightiest first, each with `weight`, the number of episodes that name it; and the relations
    between them with `episode_ids`."""

    nodes: Sequence[dict[str, Any]] = field(default_factory=list)
    edges: Sequence[dict[str, Any]] = field(default_factory=list)


def map_of(user: Person, *, words: str = "") -> Map:
    """The map of the user's memory; with `words`, only entities that hold them in their names, and what is one
    step away from those.
    """
    standing = Q(episodes__status__in=SHOWN, episodes__deleting_until=None)
    weighed = Entity.objects.of(user).annotate(weight=Count("episodes", filter=standing)).filter(weight__gt=0)
    if words:
        weighed = weighed.filter(pk__in=_about(user, words))
    # Values, not rows, here and below: a map has some thousand of them.
    rows = weighed.order_by("-weight", "pk").values("id", "name", "weight", type=F("kind"))[:MOST_NODES]
    nodes: list[dict[str, Any]] = [dict(row) for row in rows]
    return Map(nodes, _edges(user, [node["id"] for node in nodes]))


def _about(user: Person, words: str) -> set[int]:
    named = Entity.objects.of(user).filter(key__contains=key_of(words)).values("pk")
    near = Relation.objects.of(user).filter(Q(source__in=named) | Q(target__in=named))
    ends = near.values_list("source", "target")[:MOST_EDGES]
    return {pk for pair in ends for pk in pair} | {row["pk"] for row in named[:MOST_NODES]}


def _edges(user: Person, nodes: Sequence[int]) -> list[dict[str, Any]]:
    """The relations between these entities that some memory names, the newest first."""
    between = Relation.objects.of(user).filter(source__in=nodes, target__in=nodes)
    rows = list(between.order_by("-valid_from", "pk").values(*EDGE)[:MOST_EDGES])
    named = episodes_of([row["id"] for row in rows])
    return [row | {"episode_ids": named[row["id"]]} for row in rows if row["id"] in named]


def episodes_of(relations: Sequence[int]) -> dict[int, list[UUID]]:
    """The ids of the memories that name each of these relations, without those that are being deleted."""
    links: QuerySet[Any] = Relation.episodes.through.objects.filter(
        relation__in=relations, episode__deleting_until=None, episode__status__in=SHOWN
    )
    found: dict[int, list[UUID]] = {}
    for relation_id, episode_id in links.order_by("-episode__occurred_to").values_list("relation", "episode"):
        found.setdefault(relation_id, []).append(episode_id)
    return found
