"""Jobs of memory that beat starts."""

import structlog
from celery import shared_task

from memory import forgetting
from memory.models import Erasure
from memory.titles import title_due_sessions
from memory.turns import heartbeat

logger = structlog.get_logger(__name__)
BATCH = 500


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
def drain_erasures() -> None:
    """Deletes hot copies of sessions that were erased while Redis was away."""
    pending = list(Erasure.objects.order_by("pk")[:BATCH])
    if pending and forgetting.drain(pending) is None:
        logger.warning("erased hot copies still pending", sessions=len(pending))
