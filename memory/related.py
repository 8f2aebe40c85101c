"""What memory holds about a query, all kinds of it: turns and episodes by search, entities and relations by name."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import DatabaseError
from django.db.models import Q

from memory import episodes, telemetry
from memory.episodes.base import Graph
from memory.models import Episode, EpisodeOrigin, Unit, UnitKind
from memory.person import Person
from memory.recall import MemoryContext
from memory.retrieval.hits import Hit
from memory.retrieval.search import SEARCH, Query, database_breaker, search

BROUGHT = 0.9
"""Of the score of a turn, what its episode has when the turn alone was found."""


def retrieve(user: Person, query: Query) -> MemoryContext:
    """See `MemoryManager.retrieve_memory`."""
    found = search(user, query)
    missing = found.missing
    told: list[Hit] = [hit for hit in found.hits if hit.kind == UnitKind.EPISODE]
    turns = tuple(hit for hit in found.hits if hit.kind == UnitKind.TURN)
    graph = Graph()
    if SEARCH not in missing and user.pk:
        try:
            told = _with_turns(user, [*told, *_brought(user, query, turns, told)])
            turns = _not_corrected(user, turns)
            graph = episodes.related_graph(user, query.text)
        except DatabaseError as error:
            database_breaker.failed()
            telemetry.ERRORS.labels("search").inc()
            telemetry.logger.error("failed to search memory", error=type(error).__name__)
            missing = (*missing, SEARCH)
    return MemoryContext(
        related_episodes=tuple(sorted(told, key=lambda hit: -hit.score)),
        related_entities=tuple(_entity(entity) for entity in graph.entities),
        related_relations=tuple(_relation(relation) for relation in graph.relations),
        related_turns=turns,
        missing=missing,
        took_ms=found.took_ms,
    )


def _brought(user: Person, query: Query, turns: Sequence[Hit], told: Sequence[Hit]) -> list[Hit]:
    """The episodes of turns that were found, where the episode was not: it says what came of the words."""
    if not turns:
        return []
    by_turn = {hit.id: hit for hit in turns}
    links = Episode.turns.through.objects.filter(
        turn__in=list(by_turn), episode__user=user.pk, episode__status="active"
    ).values_list("episode", "turn")
    best: dict[UUID, Hit] = {}
    for episode_id, turn_id in links:
        hit = by_turn[turn_id]
        if episode_id not in best or best[episode_id].score < hit.score:
            best[episode_id] = hit
    known = {hit.id for hit in told}
    units = Unit.objects.of(user).filter(episode__in=[key for key in best if key not in known])
    return [
        replace(
            best[unit.source_id],
            kind=UnitKind.EPISODE,
            id=unit.source_id,
            text=unit.text,
            occurred_at=unit.occurred_at,
            score=round(best[unit.source_id].score * BROUGHT, 4),
            legs={"keyword": None, "vector": None, "graph": None},
            answer_at=0,
        )
        for unit in units
    ][: query.limit]


def _not_corrected(user: Person, turns: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """The turns that say more than a memory made from them: not those whose memory was corrected, or repeats them."""
    told = Episode.objects.of(user).recalled().filter(turns__in=[hit.id for hit in turns])
    told = told.filter(Q(corrected=True) | Q(origin=EpisodeOrigin.SAID))
    gone = set(told.values_list("turns", flat=True)) if turns else set()
    return tuple(hit for hit in turns if hit.id not in gone)


def _with_turns(user: Person, hits: Sequence[Hit]) -> list[Hit]:
    """The episodes with the turns that each was made from."""
    if not hits:
        return []
    links = Episode.turns.through.objects.filter(episode__in=[hit.id for hit in hits], episode__user=user.pk)
    turns: dict[UUID, list[UUID]] = {}
    for episode_id, turn_id in links.order_by("turn__seq").values_list("episode", "turn"):
        turns.setdefault(episode_id, []).append(turn_id)
    return [replace(hit, turn_ids=turns.get(hit.id, [])) for hit in hits]


def _entity(entity: Any) -> dict[str, Any]:
    return {"id": entity.pk, "name": entity.name, "type": entity.kind}


def _relation(relation: Any) -> dict[str, Any]:
    return {
        "id": relation.pk,
        "source": relation.source.name,
        "relation": relation.relation,
        "target": relation.target.name,
        "valid_from": relation.valid_from,
    }
