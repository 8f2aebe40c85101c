"""Bringing together, by night, what an owner's memory says twice: the same rule as for an episode that is new.

Nothing is lost by it: the one that is merged keeps its text, its turns, its entities and relations, takes the place of
the other when that goes (`memory.episodes`), and comes back when its owner asks (`memory.retention.restore`).
"""

import time
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from memory.episodes.sameness import Told, enough_of, says_the_same
from memory.models import Episode, EpisodeOrigin, EpisodeStatus, MemoryOwner, Posting, Unit
from memory.person import Person

STEP = 200
"""Changed episodes of one owner that are compared in one go."""
OWNERS = 100
LOOKED_AT = 50
"""Others that one episode is compared with at most: those that share its rarest words."""
WRITTEN = (EpisodeOrigin.SAID, EpisodeOrigin.MANUAL)


def merge_due_owners(*, seconds: float = 600.0) -> int:
    """Compares what has changed in everybody's memory since it was last done; how many episodes were merged."""
    until, merged = time.monotonic() + seconds, 0
    without = Episode.objects.recalled().filter(user__memory_owner=None).order_by().values_list("user", flat=True)
    MemoryOwner.objects.make(without.distinct())
    while time.monotonic() < until and (owners := list(_due_owners()[:OWNERS])):
        for owner in owners:
            if time.monotonic() < until:
                merged += merge_step(owner)
    return merged


def merge_step(user: Person) -> int:
    """Compares the next changed episodes of one owner with those like them; how many were merged."""
    owner, _made = MemoryOwner.objects.get_or_create(user_id=user.pk)
    changed = list(_changed(user, owner.merged_until)[:STEP])
    merged = sum(_merge(user, episode) for episode in changed)
    if changed:
        MemoryOwner.objects.filter(pk=owner.pk).update(merged_until=changed[-1].updated_at)
    return merged


def _due_owners() -> QuerySet[MemoryOwner]:
    changed = Episode.objects.recalled().filter(user=OuterRef("pk"), kept_apart=False)
    newer = changed.filter(updated_at__gt=OuterRef("merged_until"))
    never = Q(merged_until=None) & Exists(changed)
    return MemoryOwner.objects.filter(never | Exists(newer)).order_by("pk")


def _changed(user: Person, since: datetime | None) -> QuerySet[Episode]:
    """What is to be compared, the oldest change first."""
    mine = Episode.objects.of(user).recalled().filter(kept_apart=False).order_by("updated_at", "pk")
    return mine.filter(updated_at__gt=since) if since else mine


def _merge(user: Person, episode: Episode) -> bool:
    """Merges the episode with one that says the same; whether there was one."""
    told = Told.of_episode(episode)
    for other in _alike(user, episode, told):
        if says_the_same(told, Told.of_episode(other)):
            kept, merged = sorted((episode, other), key=_standing, reverse=True)
            if not _is_kept(merged):
                return _merged(user, kept=kept, merged=merged)
    return False


def _alike(user: Person, episode: Episode, told: Told) -> QuerySet[Episode]:
    """The owner's active episodes that share one of the rarest words of this one, as any that is near must."""
    rarest = _rarest(user, told)
    holding = Posting.objects.filter(user=user.pk, token__in=rarest).values("unit")
    units = Unit.objects.of(user).filter(pk__in=holding, archived=False, episode__isnull=False)
    mine = Episode.objects.of(user).recalled().filter(kept_apart=False, pk__in=units.values("episode"))
    return mine.exclude(pk=episode.pk).prefetch_related("entities").order_by("-occurred_to")[:LOOKED_AT]


def _rarest(user: Person, told: Told) -> list[str]:
    """So many of the rarest tokens that a text without any of them cannot be near (the prefix filter of set joins)."""
    holding = Posting.objects.filter(user=user.pk, token__in=told.tokens).values_list("token").annotate(Count("unit"))
    times = dict(holding)
    return sorted(times, key=lambda token: (times[token], token))[: enough_of(len(times))]


def _standing(episode: Episode) -> tuple[bool, bool, int, datetime, str]:
    """Which of two stays: what a person cared for, then what a person said, the weightier, the newer."""
    written = episode.origin in WRITTEN
    return _is_kept(episode), written, episode.importance, episode.occurred_to, str(episode.pk)


def _is_kept(episode: Episode) -> bool:
    """Whether its owner chose it to stand as it is: no job takes it away, not even for another such."""
    return episode.pinned or episode.edited


@transaction.atomic
def _merged(user: Person, *, kept: Episode, merged: Episode) -> bool:
    """Merges the one into the other if both are still as they were when they were compared."""
    MemoryOwner.objects.lock(user)
    both = Episode.objects.of(user).recalled().filter(pk__in=[kept.pk, merged.pk]).select_for_update().order_by("pk")
    now = {row.pk: row for row in both}
    if any(now.get(row.pk) is None or now[row.pk].updated_at != row.updated_at for row in (kept, merged)):
        return False
    Episode.objects.of(user).filter(pk=merged.pk).update(status=EpisodeStatus.MERGED, merged_into=kept.pk)
    Unit.objects.of(user).filter(episode=merged.pk).delete()
    return True
