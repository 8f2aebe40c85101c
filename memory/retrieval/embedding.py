"""Vectors for jobs: in batches, with patience, and none when the embedder is away."""

from collections.abc import Sequence

import structlog

from llm.embedders import Embedder
from memory import telemetry
from memory.breaker import Breaker
from memory.retrieval.vector import Vector

logger = structlog.get_logger(__name__)
BATCH = 32
SECONDS = 30.0
"""That one batch may take."""

breaker = Breaker(threshold=1, hold=30.0)
"""Jobs leave an embedder that failed alone for a while, and store what they have without vectors."""


def embedded(texts: Sequence[str], *, embedder: Embedder | None) -> list[Vector] | None:
    """A vector for each text; None without an embedder, or when it failed."""
    if embedder is None or not breaker.allows():
        return None
    try:
        vectors = [
            vector
            for first in range(0, len(texts), BATCH)
            for vector in embedder.embed(list(texts[first : first + BATCH]), timeout=SECONDS)
        ]
    except Exception as error:  # noqa: BLE001  # whatever it raises, the words are indexed and the vectors made later
        breaker.failed()
        telemetry.ERRORS.labels("embed").inc()
        logger.warning("no vectors", texts=len(texts), error=type(error).__name__)
        return None
    breaker.succeeded()
    return vectors
