"""Episodes in PostgreSQL: the truth."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import DatabaseError, connection, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Length, StrIndex
from django.utils import timezone

from memory.cascade import Removed, delete_rows
from memory.episodes.base import Draft, Graph
from memory.episodes.sameness import Told, says_the_same, telling_of
from memory.episodes.units import reindex_episodes
from memory.extraction import Account
from memory.models import Entity, Episode, EpisodeStatus, MemoryOwner, Relation
from memory.models.episodes import fingerprint_of, key_of, squeezed
from memory.person import Person

LOOKED_AT = 200
"""Of the newest episodes that a new one is compared with."""
PLACE = ("pk", "user_id", "status", "merged_into_id")
SHORTEST_NAME = 2
MOST_NAMED = 20
MOST_RELATIONS = 40
LONGEST_TEXT = 4000


def save_episode(user: Person, draft: Draft) -> Episode:
    """See `memory.episodes.base`."""
    account = draft.account
    same = _said_before(user, account)
    episode = Episode.objects.create(
        user_id=user.pk,
        conversation=draft.conversation,
        flow_id=draft.flow_id,
        from_seq=draft.from_seq,
        to_seq=draft.to_seq,
        title=account.title,
        summary=account.summary,
        keywords=list(account.keywords),
        importance=account.importance,
        status=EpisodeStatus.MERGED if same else EpisodeStatus.ACTIVE,
        merged_into=same,
        origin=draft.origin,
        pinned=draft.pinned,
        fingerprint=fingerprint_of(account.summary),
        occurred_from=draft.occurred_from,
        occurred_to=draft.occurred_to,
    )
    episode.turns.set(draft.turns)
    entities = _entities(user, account)
    episode.entities.set(entities.values())
    episode.relations.set(_relations(user, account, entities, since=draft.occurred_to))
    return episode


def retell(user: Person, episode: Episode, account: Account) -> None:
    """See `memory.episodes.base`."""
    entities = _entities(user, account)
    episode.entities.set(entities.values())
    episode.relations.set(_relations(user, account, entities, since=episode.occurred_to))
    _drop_unnamed(user)


def find_related_episodes(user: Person, keywords: Sequence[str], *, limit: int) -> list[Episode]:
    """See `memory.episodes.base`."""
    named = Q(entities__key__in=[key_of(word) for word in keywords])
    for word in keywords:
        named |= Q(title__icontains=word) | Q(summary__icontains=word)
    mine = Episode.objects.of(user).recalled()
    return list(mine.filter(named).distinct().order_by("-occurred_to")[:limit]) if keywords else []


def related_graph(user: Person, text: str) -> Graph:
    """See `memory.episodes.base`."""
    asked = squeezed(text)[:LONGEST_TEXT]
    if not asked:
        return Graph()
    named = (
        Entity.objects.of(user)
        .annotate(letters=Length("key"), place=StrIndex(Value(asked), "key"))
        .filter(Exists(_standing(Entity.episodes.through, "entity")), place__gt=0, letters__gte=SHORTEST_NAME)
        .order_by("-letters", "pk")
    )
    entities = list(named[:MOST_NAMED])
    if not entities:
        return Graph()
    near = Relation.objects.of(user).filter(Q(source__in=entities) | Q(target__in=entities), invalid_at=None)
    near = near.filter(Exists(_standing(Relation.episodes.through, "relation")))
    return Graph(entities, list(near.select_related("source", "target").order_by("-valid_from")[:MOST_RELATIONS]))


def forget(user: Person, episode_ids: Iterable[UUID]) -> int:
    """See `memory.episodes.base`. What was merged into one that goes takes its place."""
    return forgotten(user, episode_ids)[Episode._meta.db_table]


@transaction.atomic
def forgotten(user: Person, episode_ids: Iterable[UUID]) -> Removed:
    """What `forget` takes from which table."""
    ids = set(episode_ids)
    if not ids:
        return Removed()
    MemoryOwner.objects.lock(user)
    gone = {row.pk: row for row in Episode.objects.held_for(user).filter(pk__in=ids).only(*PLACE)}
    heirs = list(Episode.objects.of(user).filter(merged_into__in=gone).exclude(pk__in=gone).order_by("pk"))
    for heir in heirs:
        _take_place(heir, gone)
    removed = delete_rows(Episode.objects.held_for(user).filter(pk__in=gone))
    _settle(user, heirs)
    return removed + _drop_unnamed(user)


def drop_unnamed(user: Person) -> int:
    """Deletes relations and entities of the user that no episode names any more; how many went."""
    return sum(_drop_unnamed(user).values())


def _drop_unnamed(user: Person) -> Removed:
    removed = delete_rows(Relation.objects.of(user).filter(~Exists(_naming(Relation.episodes.through, "relation"))))
    return removed + delete_rows(Entity.objects.of(user).filter(~Exists(_naming(Entity.episodes.through, "entity"))))


def _naming(links: Any, key: str) -> QuerySet[Any]:
    named: QuerySet[Any] = links.objects.filter(**{key: OuterRef("pk")})
    return named


def _standing(links: Any, key: str) -> QuerySet[Any]:
    """The same without those that rest, or whose deletion can still be taken back."""
    return _naming(links, key).filter(episode__deleting_until=None).exclude(episode__status=EpisodeStatus.ARCHIVED)


def graph_size(user: Person) -> int:
    """See `memory.episodes.base`."""
    return Entity.objects.of(user).count() + Relation.objects.of(user).count()


def is_available() -> bool:
    """See `memory.episodes.base`."""
    try:
        connection.ensure_connection()
    except DatabaseError:
        return False
    return True


def _take_place(heir: Episode, gone: Mapping[UUID, Episode]) -> None:
    """Gives a merged episode what the one that goes had: its status, or its place in a third one that stays."""
    place = heir
    while place.merged_into_id and place.merged_into_id in gone:
        place = gone[place.merged_into_id]
    heir.merged_into_id, heir.status = place.merged_into_id, place.status
    if place.merged_into_id is None and place.status == EpisodeStatus.MERGED:
        heir.status = EpisodeStatus.ACTIVE


def _settle(user: Person, heirs: Sequence[Episode]) -> None:
    """Stores heirs in their new places; one that says what an active one says word for word is merged into that."""
    active = Episode.objects.of(user).recalled().filter(fingerprint__in=[heir.fingerprint for heir in heirs])
    holders = {row.fingerprint: row for row in active}
    for heir in heirs:
        if heir.status == EpisodeStatus.ACTIVE:
            holder = holders.setdefault(heir.fingerprint, heir)
            if holder is not heir:
                heir.merged_into, heir.status = holder, EpisodeStatus.MERGED
        heir.updated_at = timezone.now()
    Episode.objects.bulk_update(heirs, ["merged_into", "status", "updated_at"])
    reindex_episodes(heirs)


def _said_before(user: Person, account: Account) -> Episode | None:
    """The active episode that says the same, word for word or nearly."""
    mine = Episode.objects.of(user).recalled()
    same = mine.filter(fingerprint=fingerprint_of(account.summary)).first()
    if same:
        return same
    told = Told.of(account.summary, [key_of(name.text) for name in account.names])
    newest = mine.order_by("-occurred_to").values_list("pk", "summary")[:LOOKED_AT]
    alike = [key for key, summary in newest if telling_of(summary) == told.telling]
    for other in mine.filter(pk__in=alike).order_by("-occurred_to").prefetch_related("entities"):
        if says_the_same(told, Told.of_episode(other)):
            return other
    return None


def _entities(user: Person, account: Account) -> dict[str, Entity]:
    """The entities of the account by their keys, those that are new stored."""
    wanted = {key_of(name.text): name for name in account.names}
    Entity.objects.bulk_create(
        [Entity(user_id=user.pk, key=key, name=name.text, kind=name.kind) for key, name in wanted.items()],
        ignore_conflicts=True,
    )
    return {entity.key: entity for entity in Entity.objects.of(user).filter(key__in=wanted)}


def _relations(user: Person, account: Account, entities: dict[str, Entity], *, since: datetime) -> list[Relation]:
    wanted = [
        Relation(
            user_id=user.pk,
            source=entities[key_of(link.source)],
            relation=link.relation,
            target=entities[key_of(link.target)],
            valid_from=since,
        )
        for link in account.links
    ]
    Relation.objects.bulk_create(wanted, ignore_conflicts=True)
    stored = Relation.objects.of(user).filter(source__in=[relation.source for relation in wanted])
    keys = {(relation.source_id, relation.relation, relation.target_id) for relation in wanted}
    return [row for row in stored if (row.source_id, row.relation, row.target_id) in keys]
