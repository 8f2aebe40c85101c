"""What time takes: transcripts that nobody has touched for long, and memories that are old enough to rest.

Set by set, a batch in a transaction, as many statements for a full batch as for an almost empty one. What a batch
needs is locked as `memory.forgetting` does it; what somebody else has locked is left for the next one.
"""

import time
from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from memory.cascade import delete_rows
from memory.episodes.units import reindex_episode
from memory.forgetting import drain
from memory.models import Conversation, Episode, EpisodeOrigin, EpisodeStatus, Erasure, MemoryOwner, Unit
from memory.person import Person

SESSIONS = 200
"""Of one batch: their turns are deleted in one statement for each table."""
EPISODES = 10_000
WRITTEN = (EpisodeOrigin.SAID, EpisodeOrigin.MANUAL)
"""By people themselves: never archived."""


def sweep_transcripts(*, seconds: float = 600.0) -> int:
    """Deletes sessions that were last active TRANSCRIPT_DAYS ago or longer; how many.

    What was made of them lives on by its own rules: episodes stay, without the turns they came from.
    """
    return _in_batches(_sweep_batch, size=SESSIONS, seconds=seconds) if settings.TRANSCRIPT_DAYS else 0


def archive_episodes(*, seconds: float = 600.0) -> int:
    """Archives episodes made by jobs that nobody has changed for EPISODE_ARCHIVE_DAYS; how many.

    Pinned ones, those that people wrote or edited, and those restored less than that ago stay as they are.
    """
    return _in_batches(_archive_batch, size=EPISODES, seconds=seconds) if settings.EPISODE_ARCHIVE_DAYS else 0


@transaction.atomic
def restore(user: Person, episode_id: UUID) -> Episode | None:
    """Makes an archived or merged episode of the user active again, for as long as a new one; None without one.

    What was merged stays out of every other from now on. While another one says the same word for word, nothing
    changes.
    """
    MemoryOwner.objects.lock(user)
    episode = Episode.objects.of(user).select_for_update().filter(pk=episode_id).first()
    if episode is None:
        return None
    twin = Episode.objects.of(user).recalled().filter(fingerprint=episode.fingerprint).exclude(pk=episode.pk)
    if episode.status != EpisodeStatus.ACTIVE and not twin.exists():
        episode.kept_apart |= episode.status == EpisodeStatus.MERGED
        episode.status, episode.merged_into, episode.updated_at = EpisodeStatus.ACTIVE, None, timezone.now()
        episode.save(update_fields=["kept_apart", "status", "merged_into", "updated_at"])
        reindex_episode(episode)
    return episode


def due_transcripts() -> "QuerySet[Conversation]":
    """Sessions whose time is over, the oldest first. None of them runs: a turn that begins makes its session active."""
    before = timezone.now() - timedelta(days=settings.TRANSCRIPT_DAYS)
    return Conversation.objects.filter(last_active_at__lt=before).order_by("last_active_at")


def due_episodes() -> "QuerySet[Episode]":
    """Episodes that are to be archived."""
    before = timezone.now() - timedelta(days=settings.EPISODE_ARCHIVE_DAYS)
    resting = Episode.objects.filter(occurred_to__lt=before, updated_at__lt=before)
    return resting.recalled().filter(pinned=False, edited=False).exclude(origin__in=WRITTEN)


def _in_batches(batch: Callable[[], int], *, size: int, seconds: float) -> int:
    until, done = time.monotonic() + seconds, 0
    while (count := batch()) and time.monotonic() < until:
        done += count
        if count < size:
            return done
    return done + count


def _sweep_batch() -> int:
    with transaction.atomic():
        due = list(due_transcripts().select_for_update(skip_locked=True)[:SESSIONS])
        ids = [session.pk for session in due]
        MemoryOwner.objects.lock_all({session.user_id for session in due})
        Erasure.objects.bulk_create(
            Erasure(user_id=session.user_id, flow_id=session.flow_id, session_id=session.pk) for session in due
        )
        Episode.objects.filter(conversation__in=ids).update(conversation=None)
        Unit.objects.filter(conversation__in=ids, turn=None).update(conversation=None)
        delete_rows(Conversation.objects.filter(pk__in=ids))
    drain(list(Erasure.objects.filter(session_id__in=ids)))
    return len(ids)


@transaction.atomic
def _archive_batch() -> int:
    due = due_episodes().order_by("pk")
    found = dict(due.values_list("pk", "user_id")[:EPISODES])
    MemoryOwner.objects.lock_all(set(found.values()))
    still = due_episodes().filter(pk__in=found)
    archived = list(still.select_for_update().order_by("pk").values_list("pk", flat=True))
    Episode.objects.filter(pk__in=archived).update(status=EpisodeStatus.ARCHIVED, updated_at=timezone.now())
    Unit.objects.filter(episode__in=archived).update(archived=True)
    return len(archived)
