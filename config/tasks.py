"""The sign of life of worker and beat."""

import time

from celery import shared_task
from django.core.cache import cache

KEY = "beat-heart"
FRESH_SECONDS = 60


@shared_task
def beat_heart() -> None:
    """Notes that beat has sent a job and a worker has done it."""
    cache.set(KEY, time.time(), timeout=FRESH_SECONDS)


def beats() -> bool:
    """Whether beat and a worker were alive within the last minute."""
    return cache.get(KEY) is not None
