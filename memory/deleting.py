"""Deleting one memory: hidden at once everywhere, taken back within seconds, then gone.

With it goes whatever would bring it back: what says the same and was merged into it, the search units of the turns it
was made from, and the words of answers that told it. The transcripts stay as they are. Tombstones keep every job from
finding or extracting those turns again.

Sessions are locked first, then the owner, as `memory.forgetting` does it. The epochs of the sessions rise, so that what
a job was making of them meanwhile is not stored.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from llm.embedders import resolve_embedder
from memory import episodes
from memory.buried import living
from memory.episodes.units import reindex_episodes
from memory.errors import EpisodeNotFound
from memory.models import (
    REPLAYED,
    Conversation,
    Episode,
    EpisodeStatus,
    MemoryOwner,
    Tombstone,
    Turn,
    Unit,
)
from memory.person import Person
from memory.retrieval.drafts import drafted, is_searched
from memory.retrieval.storing import counted, store

UNDO = timedelta(seconds=15)
"""How long a deletion can be taken back."""
OFFERED = timedelta(seconds=10)
"""How long the page offers it: less, for the way there."""
HOPS = 5
"""How far an answer is followed that told an answer that told the memory."""


@dataclass(frozen=True, slots=True)
class _Reach:
    """What goes with a memory: those that were merged into it, their turns, and the turns whose answers told it."""

    episodes: Sequence[UUID]
    turns: frozenset[UUID]
    answers: frozenset[UUID]

    @property
    def touched(self) -> frozenset[UUID]:
        return self.turns | self.answers


@transaction.atomic
def delete(user: Person, episode_id: UUID) -> datetime:
    """Hides a memory of the user; until when that can be taken back. Raises EpisodeNotFound."""
    reach = _reach(user, episode_id)
    _lock(user, reach.touched)
    until = timezone.now() + UNDO
    if not Episode.objects.of(user).filter(pk__in=reach.episodes).update(deleting_until=until):
        raise EpisodeNotFound
    Tombstone.objects.bulk_create(
        Tombstone(user_id=user.pk, turn_id=turn, episode_id=episode_id, answer_only=turn not in reach.turns)
        for turn in reach.touched
    )
    Unit.objects.of(user).filter(episode__in=reach.episodes).delete()
    _reindex_turns(user, reach.touched)
    return until


@transaction.atomic
def take_back(user: Person, episode_id: UUID) -> Episode:
    """Brings a memory back whose deletion is not final yet. Raises EpisodeNotFound."""
    stones = Tombstone.objects.of(user).filter(episode=episode_id)
    turns = frozenset(stones.values_list("turn", flat=True))
    _lock(user, turns)
    deleted = Episode.objects.held_for(user).filter(deleting_until__gt=timezone.now())
    episode = deleted.filter(pk=episode_id).first()
    if episode is None:
        raise EpisodeNotFound
    group = list(deleted.filter(deleting_until=episode.deleting_until))
    _stand_again(user, group)
    stones.delete()
    _reindex_turns(user, turns)
    return Episode.objects.of(user).get(pk=episode_id)


def finish(user: Person) -> int:
    """Makes the deletions of the user final that can no longer be taken back; how many memories went."""
    over = Episode.objects.held_for(user).filter(deleting_until__lte=timezone.now())
    ids = list(over.values_list("pk", flat=True))
    if not ids:  # as nearly always
        return 0
    with transaction.atomic():
        return episodes.forget(user, ids)


def finish_due(*, limit: int = 200) -> int:
    """The same for everybody; how many memories went."""
    over = Episode.objects.filter(deleting_until__lte=timezone.now()).select_related("user")
    owners = {episode.user_id: episode.user for episode in over.order_by("deleting_until")[:limit]}
    return sum(finish(user) for user in owners.values())


def _reach(user: Person, episode_id: UUID) -> _Reach:
    mine = Episode.objects.of(user)
    group = list(mine.filter(pk=episode_id).values_list("pk", flat=True))
    merged = group
    while merged:
        merged = list(mine.filter(merged_into__in=merged).exclude(pk__in=group).values_list("pk", flat=True))
        group += merged
    links = Episode.turns.through.objects.filter(episode__in=group, turn__user=user.pk)
    turns = frozenset(links.values_list("turn", flat=True))
    return _Reach(group, turns, _told(user, group, turns))


def _told(user: Person, group: Iterable[UUID], turns: frozenset[UUID]) -> frozenset[UUID]:
    """The turns whose answers were given these memories or turns, or an answer that was."""
    found: frozenset[UUID] = frozenset()
    used = [Q(memory_used__contains={"episodes": [{"episode_id": str(pk)}]}) for pk in group]
    newest = turns
    for _ in range(HOPS):
        used += [Q(memory_used__contains={"turns": [{"turn_id": str(pk)}]}) for pk in newest]
        if not used:
            break
        telling = Turn.objects.visible_to(user).filter(_any(used)).exclude(pk__in=found | turns)
        newest = frozenset(telling.values_list("pk", flat=True))
        found |= newest
        used = []
    return found


def _any(conditions: Iterable[Q]) -> Q:
    either = Q()
    for condition in conditions:
        either |= condition
    return either


def _lock(user: Person, turns: Collection[UUID]) -> None:
    """Locks the sessions of these turns and the owner; what jobs are making of them is not stored."""
    mine = Conversation.objects.visible_to(user)
    sessions = list(mine.filter(turns__in=turns).values_list("pk", flat=True).distinct())
    list(mine.filter(pk__in=sessions).select_for_update().order_by("pk").values_list("pk"))
    mine.filter(pk__in=sessions).update(epoch=F("epoch") + 1)
    MemoryOwner.objects.lock(user)


def _stand_again(user: Person, group: Sequence[Episode]) -> None:
    """Gives memories their place back; one that says what an active one says by now is merged into that."""
    active = Episode.objects.of(user).recalled().filter(fingerprint__in=[row.fingerprint for row in group])
    holders = {row.fingerprint: row for row in active}
    for row in group:
        holder = holders.get(row.fingerprint)
        row.deleting_until = None
        if row.status == EpisodeStatus.ACTIVE and holder:
            row.status, row.merged_into = EpisodeStatus.MERGED, holder
    Episode.objects.bulk_update(group, ["deleting_until", "status", "merged_into"])
    reindex_episodes(group)


def _reindex_turns(user: Person, turns: Collection[UUID]) -> None:
    """Makes the units of these turns, and of those that have them as context, anew as tombstones now have it.

    Their vectors are made by the next job.
    """
    mine = Turn.objects.visible_to(user)
    sessions = mine.filter(pk__in=turns).values("conversation")
    said = mine.filter(conversation__in=sessions, status__in=REPLAYED).exclude(output="")
    places = list(said.order_by("conversation", "seq").values_list("conversation", "pk"))
    pairs = [(pk, places[at - 1][1]) for at, (session, pk) in enumerate(places) if at and places[at - 1][0] == session]
    before = {pk: former for pk, former in pairs if pk in turns or former in turns}
    anew = set(turns) | set(before)
    read = mine.filter(pk__in=anew | set(before.values())).select_related("conversation")
    alive = {turn.pk: turn for turn in living(read)}
    Unit.objects.of(user).filter(turn__in=anew).delete()
    units = [
        drafted(turn, before=alive.get(before[pk]) if pk in before else None).unit
        for pk, turn in alive.items()
        if pk in anew and is_searched(turn) and turn.seq <= turn.conversation.indexed_seq
    ]
    store([counted(unit) for unit in units], vectors=None, embedder=resolve_embedder())
