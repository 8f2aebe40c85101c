"""Jobs of profiles that beat starts."""

import structlog
from celery import shared_task
from django.conf import settings

from profiles import aggregation, insight, overdue
from profiles.models import Look
from profiles.reports import job as report_job

logger = structlog.get_logger(__name__)


@shared_task
def sweep_access_log() -> None:
    """Deletes looks at people that are older than two years."""
    swept = Look.objects.sweep()
    if swept:
        logger.info("swept the access log", rows=swept)


@shared_task
def count_changed() -> None:
    """Counts the figures of those for whom something happened."""
    aggregation.aggregate_changed()


@shared_task
def count_everybody() -> None:
    """Counts everybody's figures, for whatever was missed."""
    changed = aggregation.aggregate()
    logger.info("counted everybody", changed=changed)


@shared_task
def notice() -> None:
    """Suggests tags from new memories."""
    insight.notice_due_people()


@shared_task
def tell_of_overdue_work() -> None:
    """Tells whoever has overdue work, and whoever gave it."""
    overdue.tell()


@shared_task
def sweep_suggestions() -> None:
    """Deletes suggested tags that nobody has decided on for long."""
    swept = insight.sweep_suggestions(days=settings.SUGGESTION_DAYS) if settings.SUGGESTION_DAYS else 0
    if swept:
        logger.info("swept suggestions", rows=swept)


@shared_task
def make_reports() -> None:
    """Makes the reports that somebody asked for."""
    report_job.make_due_reports()
