"""Jobs of memory that beat starts."""

import time

import structlog
from celery import shared_task

from memory import deleting, forgetting, indexing, merging, reindexing, retention
from memory.consolidation import consolidate_due_sessions
from memory.dead_letters import retry_due
from memory.models import Erasure
from memory.summaries import fold_due_summaries
from memory.titles import title_due_sessions
from memory.turns import heartbeat

logger = structlog.get_logger(__name__)
BATCH = 500
SESSIONS = 20
INDEXING_SECONDS = 8.0
"""After which indexing leaves the rest to the next tick."""
REINDEXING_SECONDS = 240.0
NIGHTLY_SECONDS = 1800.0


@shared_task
def interrupt_dead_turns() -> None:
    """Closes running turns whose web process is gone, for the case that no web process is left to do it."""
    interrupted = heartbeat().interrupted
    if interrupted:
        logger.warning("interrupted turns of a dead process", turns=len(interrupted))


@shared_task
def title_sessions() -> None:
    """Names sessions whose first answer is there."""
    title_due_sessions(limit=20)


@shared_task
def index_turns() -> None:
    """Makes new turns searchable, and vectors that are due because the embedder was away."""
    until = time.monotonic() + INDEXING_SECONDS
    while indexing.index_due_sessions(limit=SESSIONS) == SESSIONS and time.monotonic() < until:
        pass
    while reindexing.embed_due() and time.monotonic() < until:
        pass


@shared_task
def renew_index() -> None:
    """Brings units up to date that have tokens by former rules, or no vector by the embedding model of today."""
    reindexing.retokenise(seconds=REINDEXING_SECONDS)
    reindexing.embed_missing(seconds=REINDEXING_SECONDS)


@shared_task
def fold_summaries() -> None:
    """Folds what leaves the windows into the summaries."""
    fold_due_summaries(limit=20)


@shared_task
def consolidate_sessions() -> None:
    """Makes episodes of sessions that rest or have grown, and reads dead letters again that somebody asked for."""
    until = time.monotonic() + INDEXING_SECONDS
    while consolidate_due_sessions(limit=SESSIONS) == SESSIONS and time.monotonic() < until:
        pass
    retry_due()


@shared_task
def drain_erasures() -> None:
    """Deletes hot copies of sessions that were erased while Redis was away."""
    pending = list(Erasure.objects.order_by("pk")[:BATCH])
    if pending and forgetting.drain(pending) is None:
        logger.warning("erased hot copies still pending", sessions=len(pending))


@shared_task
def merge_memories() -> None:
    """Brings together what somebody's memory says twice."""
    logger.info("merged memories", count=merging.merge_due_owners(seconds=NIGHTLY_SECONDS))


@shared_task
def archive_memories() -> None:
    """Lets memories rest that are old."""
    logger.info("archived memories", count=retention.archive_episodes(seconds=NIGHTLY_SECONDS))


@shared_task
def sweep_transcripts() -> None:
    """Deletes sessions whose time is over."""
    logger.info("swept sessions", count=retention.sweep_transcripts(seconds=NIGHTLY_SECONDS))


@shared_task
def finish_deletions() -> None:
    """Makes deletions of memories final that nobody has taken back."""
    deleting.finish_due()
