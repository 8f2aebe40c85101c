"""Logs and counts every retrieval and storage, always in pairs, never with a word of what was said."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

import structlog
from prometheus_client import Counter, Gauge, Histogram

logger = structlog.get_logger("tacit.memory")

RETRIEVALS = Counter("tacit_memory_retrievals", "Retrievals of memory by outcome.", ["outcome"])
STORAGES = Counter("tacit_memory_storages", "Storages of turns by outcome.", ["outcome"])
CONSOLIDATIONS = Counter("tacit_memory_consolidations", "Stretches of sessions by what became of them.", ["outcome"])
FOLDS = Counter("tacit_memory_folds", "Summaries by outcome.", ["outcome"])
REWRITE_DISTANCE = Histogram(
    "tacit_memory_rewrite_distance",
    "How far a rewritten query is from the person's words: 0 the same tokens, 1 none in common.",
    buckets=(0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0),
)
SEARCHES = Counter("tacit_memory_searches", "Searches of what was said, by outcome.", ["outcome"])
INDEXINGS = Counter("tacit_memory_indexings", "Rounds of indexing a session, by outcome.", ["outcome"])
INDEXED = Counter("tacit_memory_indexed", "Turns that indexing has passed, by outcome.", ["outcome"])
LAG = Gauge("tacit_memory_index_lag_sessions", "Sessions that have turns which search has not indexed yet.")
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
    ids: Sequence[object] = ()
    outcome: str = ""


@contextmanager
def retrieving(*, turn_id: UUID, source: str = "window") -> Iterator[Found]:
    """Around one retrieval from `source`, the window or recall: fill in what was found."""
    with _observed("retrieve", RETRIEVALS, turn_id=str(turn_id), source=source) as found:
        yield found
    told = {"count": found.count, "ids": [str(key) for key in found.ids]}
    logger.info("Retrieved memory", turn_id=str(turn_id), source=source, **told)


@contextmanager
def storing(*, turn_id: UUID) -> Iterator[Found]:
    """Around one storage of a turn."""
    with _observed("store", STORAGES, turn_id=str(turn_id), source="window") as found:
        yield found


@contextmanager
def indexing(*, session_id: UUID) -> Iterator[Found]:
    """Around the indexing of one session's new turns."""
    with _observed("index", INDEXINGS, session_id=str(session_id)) as found:
        yield found


@contextmanager
def consolidating(*, session_id: UUID) -> Iterator[Found]:
    """Around the reading of one stretch of a session: say in `outcome` what became of it."""
    with _observed("consolidate", CONSOLIDATIONS, session_id=str(session_id)) as found:
        yield found


def searched(*, seconds: float, count: int, missing: tuple[str, ...]) -> None:
    """After one search of what was said: what it found, and what was out of reach."""
    outcome = "error" if "search" in missing else "degraded" if missing else "ok"
    SEARCHES.labels(outcome).inc()
    SECONDS.labels("search").observe(seconds)
    logger.info("Searched memory", count=count, missing=missing, outcome=outcome, ms=round(seconds * 1000, 1))


@contextmanager
def _observed(stage: str, counter: Counter, **named: str) -> Iterator[Found]:
    found, began, outcome = Found(), time.monotonic(), "error"
    logger.info(f"Start to {stage} memory", **named)
    try:
        yield found
        outcome = found.outcome or ("degraded" if found.missing else "ok")
    except Exception as error:
        ERRORS.labels(stage).inc()
        logger.error(f"failed to {stage} memory", **named, error=type(error).__name__)
        raise
    finally:
        took = time.monotonic() - began
        counter.labels(outcome).inc()
        SECONDS.labels(stage).observe(took)
        logger.info(f"End to {stage} memory", **named, outcome=outcome, ms=round(took * 1000, 1))
