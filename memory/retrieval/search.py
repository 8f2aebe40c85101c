"""Finding what one person said before: words and meanings, in a bounded time, without a model but the embedder.

    found = search(user, Query("什么时候上线？", except_session=conversation.pk))

Nothing that can go wrong with a store raises: what is found comes back, and `missing` names what was out of reach:
`vectors` (the embedder failed or was late: words alone were searched), `busy` (too many searches at once), `search`
(the database failed or was late: nothing was found out).
"""

import time
from collections.abc import Collection
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cache
from uuid import UUID

import structlog
from django.conf import settings
from django.db import Error as DatabaseFailure

from llm.embedders import Embedder, resolve_embedder
from memory import telemetry
from memory.breaker import Breaker
from memory.errors import DimensionRefused
from memory.person import Person
from memory.redaction import redact
from memory.retrieval import vector
from memory.retrieval.hits import DEPTH, Asked, Hit, look_up
from memory.retrieval.lanes import Busy, Lanes
from memory.retrieval.scope import Scope
from memory.retrieval.tokens import tokens
from memory.retrieval.vector import Vector

logger = structlog.get_logger(__name__)
VECTORS, BUSY, SEARCH = "vectors", "busy", "search"
SIDE_CHARS = 1_000
"""Of a longer query its beginning and its end are asked for."""
MOST_TOKENS = 200
EMBEDDING_SHARE = 0.6
"""Of the time that a search has, how much the embedder may use; the rest is for the database behind it."""
DATABASE_SHARE = 0.9
"""Of the time that is left, how long one statement may take, so that it ends before its caller stops waiting."""

database_breaker = Breaker()
embedder_breaker = Breaker()


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked: the words, how many hits at most, whether in one flow alone, and which session is left out.

    `archived`: what is archived is found too. `deadline` is in seconds, RECALL_SECONDS unless given.
    """

    text: str
    limit: int = 10
    flow_id: int | None = None
    except_session: UUID | None = None
    archived: bool = False
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The hits, best first, what was out of reach, and how long it took in milliseconds."""

    hits: list[Hit] = field(default_factory=list)
    missing: tuple[str, ...] = ()
    took_ms: float = 0.0


@cache
def _searches() -> Lanes:
    return Lanes(settings.RECALL_THREADS, name="recall")


@cache
def _embeddings() -> Lanes:
    return Lanes(settings.RECALL_THREADS, name="embed")


def search(user: Person, query: Query) -> Found:
    """What `user` said that answers the query; nobody else's words, ever. It returns by the deadline."""
    began = time.monotonic()
    text = _shortened(redact(query.text))
    if user.pk is None or not text.strip():
        return Found()
    found = _within(began + (query.deadline or settings.RECALL_SECONDS), user, replace(query, text=text))
    took = time.monotonic() - began
    telemetry.searched(seconds=took, count=len(found.hits), missing=found.missing)
    return replace(found, took_ms=round(took * 1000, 1))


def _within(deadline: float, user: Person, query: Query) -> Found:
    if not database_breaker.allows():
        return Found(missing=(SEARCH,))
    meaning = _Meaning(query.text, deadline)
    asked = Asked(
        scope=Scope(user, flow_id=query.flow_id, except_session=query.except_session, archived=query.archived),
        tokens=dict(list(tokens(query.text).items())[:MOST_TOKENS]),
        limit=query.limit,
    )
    try:
        search = _searches().start(lambda: look_up(asked, meaning, until=_until(deadline)))
    except Busy:
        return Found(missing=(BUSY,))
    hits = _awaited(search, deadline)
    if hits is None:
        return Found(missing=(BUSY if search.cancelled() else SEARCH,))
    return Found(hits, missing=(VECTORS,) if meaning.missing else ())


def _until(deadline: float) -> float:
    return time.monotonic() + (deadline - time.monotonic()) * DATABASE_SHARE


def _awaited(search: "Future[list[Hit]]", deadline: float) -> list[Hit] | None:
    """The hits; None when the database failed or was late, or when no thread came to it in time (then cancelled)."""
    try:
        hits = search.result(timeout=max(0.0, deadline - time.monotonic()))
    except TimeoutError:
        if search.cancel():
            return None
        error = "TimeoutError"
    except DatabaseFailure as failure:
        error = type(failure).__name__
    else:
        database_breaker.succeeded()
        return hits
    database_breaker.failed()
    telemetry.ERRORS.labels("search").inc()
    logger.error("failed to search memory", error=error)
    return None


class _Meaning:
    """The vector of the query, in the making beside the search for its words."""

    def __init__(self, text: str, deadline: float) -> None:
        self.missing = False
        self._until = time.monotonic() + (deadline - time.monotonic()) * EMBEDDING_SHARE
        self._future: Future[Vector] | None = None
        self._text, self._embedder = text, resolve_embedder()

    def begin(self) -> None:
        """Lets the embedder read the query, beside what follows."""
        if self._embedder is not None:
            self._future = self._started(self._embedder, self._text)
            self.missing = self._future is None

    def _started(self, embedder: Embedder, text: str) -> "Future[Vector] | None":
        if not embedder_breaker.allows():
            return None
        try:
            return _embeddings().start(lambda: embedder.embed([text], timeout=self._left())[0])
        except Busy:
            return None

    def nearest(self, scope: Scope, also: Collection[int]) -> dict[int, float]:
        """The cosines of the nearest units in scope and of those in `also`; nothing without the query's vector."""
        asked = self._vector()
        if asked is None or self._embedder is None:
            return {}
        try:
            return vector.nearest(scope, asked, embedder=self._embedder, limit=DEPTH, also=also)
        except DimensionRefused as error:
            self.missing = True
            telemetry.ERRORS.labels("embed").inc()
            logger.error("vectors refused", error=str(error))
            return {}

    def _vector(self) -> Vector | None:
        if self._future is None:
            return None
        try:
            made = self._future.result(timeout=self._left())
        except Exception as error:  # noqa: BLE001  # whatever an embedder raises, the words are searched all the same
            self._future.cancel()
            self.missing = True
            embedder_breaker.failed()
            telemetry.ERRORS.labels("embed").inc()
            logger.warning("no vector for a query", error=type(error).__name__)
            return None
        embedder_breaker.succeeded()
        return made

    def _left(self) -> float:
        return max(0.001, self._until - time.monotonic())


def _shortened(text: str) -> str:
    return text if len(text) <= 2 * SIDE_CHARS else f"{text[:SIDE_CHARS]}\n{text[-SIDE_CHARS:]}"
