"""Logs and counts every retrieval and storage, always in pairs, never with a word of what was said."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

import structlog
from prometheus_client import Counter, Histogram

logger = structlog.get_logger("tacit.memory")

RETRIEVALS = Counter("tacit_memory_retrievals", "Retrievals of memory by outcome.", ["outcome"])
STORAGES = Counter("tacit_memory_storages", "Storages of turns by outcome.", ["outcome"])
ERRORS = Counter("tacit_memory_errors", "Failures of memory by stage.", ["stage"])
SECONDS = Histogram(
    "tacit_memory_seconds",
    "Time of a retrieval or storage.",
    ["stage"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.3, 1, 5),
)


@dataclass
class Found:
    """What a retrieval or storage reports when it ends."""

    count: int = 0
    missing: tuple[str, ...] = ()


@contextmanager
def retrieving(*, turn_id: UUID) -> Iterator[Found]:
    """Around one retrieval: fill in what was found."""
    with _observed("retrieve", RETRIEVALS, turn_id) as found:
        yield found
    logger.info("Retrieved memory", turn_id=str(turn_id), count=found.count)


@contextmanager
def storing(*, turn_id: UUID) -> Iterator[Found]:
    """Around one storage of a turn."""
    with _observed("store", STORAGES, turn_id) as found:
        yield found


@contextmanager
def _observed(stage: str, counter: Counter, turn_id: UUID) -> Iterator[Found]:
    found, began, outcome = Found(), time.monotonic(), "error"
    logger.info(f"Start to {stage} memory", turn_id=str(turn_id))
    try:
        yield found
        outcome = "degraded" if found.missing else "ok"
    except Exception as error:
        ERRORS.labels(stage).inc()
        logger.error(f"failed to {stage} memory", turn_id=str(turn_id), error=type(error).__name__)
        raise
    finally:
        took = time.monotonic() - began
        counter.labels(outcome).inc()
        SECONDS.labels(stage).observe(took)
        logger.info(f"End to {stage} memory", turn_id=str(turn_id), outcome=outcome, ms=round(took * 1000, 1))
