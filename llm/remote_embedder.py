"""Embeddings of any endpoint that speaks the OpenAI protocol."""

import time
from collections.abc import Sequence

import httpx2
import numpy as np
from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAI, OpenAIError

from llm.embedders import Vectors, cut, pooled
from llm.errors import (
    ContextTooLong,
    EmbeddingMismatch,
    ModelMisconfigured,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
)
from llm.profile import OPENAI_BASE_URL
from llm.refusals import refusal, seconds_to_wait
from llm.text import safe

NO_KEY = "none"
"""Sent to endpoints that want no key: the package insists on one."""
PIECE_CHARS = 1_500
"""A longer text goes in pieces. What is too long even so for a model is halved until it fits."""
SHORTEST_PIECE = 100
BATCH = 32
"""Pieces of one request; fewer once the endpoint has refused so many."""
PROBE_SECONDS = 10.0


class RemoteEmbedder:
    """See `llm.embedders.Embedder`. Makes no second attempts: whoever calls has a breaker, or a queue that waits."""

    def __init__(self, *, base_url: str, api_key: str, model: str) -> None:
        if not api_key.isascii():
            raise ModelMisconfigured  # such a key is a paste gone wrong, and fits no HTTP header
        self.model = model
        self._dimension = 0
        self._batch, self._piece_chars = BATCH, PIECE_CHARS
        # A redirect would carry people's texts to another address than the one set up.
        http = httpx2.Client(follow_redirects=False)
        address = base_url or OPENAI_BASE_URL
        self._client = OpenAI(base_url=address, api_key=api_key or NO_KEY, max_retries=0, http_client=http)

    @property
    def dimension(self) -> int:
        """See `Embedder`."""
        if not self._dimension:
            self.embed(["."], timeout=PROBE_SECONDS)
        return self._dimension

    def warm(self) -> None:
        """See `Embedder`."""
        self.embed(["."], timeout=PROBE_SECONDS)

    def embed(self, texts: Sequence[str], *, timeout: float) -> Vectors:
        """See `Embedder`."""
        until = time.monotonic() + timeout
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        pieces, owners = cut([safe(text) for text in texts], chars=self._piece_chars)
        rows: list[Vectors] = []
        while len(rows) < len(pieces):
            rows += self._rows(pieces[len(rows) : len(rows) + self._batch], until)
        return pooled(np.stack(rows), pieces, owners, count=len(texts))

    def _rows(self, pieces: Sequence[str], until: float) -> list[Vectors]:
        """A row for each piece. What the endpoint refuses as too much or too long is asked for in halves."""
        try:
            return self._asked(pieces, until)
        except (ContextTooLong, ModelRejected) as refused:
            if len(pieces) > 1:
                if isinstance(refused, ModelRejected):
                    self._batch = min(self._batch, len(pieces) // 2)
                middle = len(pieces) // 2
                return self._rows(pieces[:middle], until) + self._rows(pieces[middle:], until)
            if len(pieces[0]) <= SHORTEST_PIECE:
                raise
            self._piece_chars = min(self._piece_chars, len(pieces[0]) // 2)
            halves, owners = cut(pieces, chars=-(-len(pieces[0]) // 2))
            rows = [row for half in halves for row in self._rows([half], until)]
            return [pooled(np.stack(rows), halves, owners, count=1)[0]]

    def _asked(self, pieces: Sequence[str], until: float) -> list[Vectors]:
        """One request. Raises a ProviderError; what the endpoint wrote is looked at and never passed on."""
        left = until - time.monotonic()
        if left <= 0:
            raise ModelTimeout
        try:
            # Numbers, not base64: every endpoint can, and not every one says so when it cannot.
            answer = self._client.embeddings.create(
                model=self.model, input=list(pieces), encoding_format="float", timeout=left
            )
            rows = [entry.embedding for entry in sorted(answer.data, key=lambda entry: entry.index)]
        except APITimeoutError:
            raise ModelTimeout from None
        except APIConnectionError as error:
            wrong_address = isinstance(error.__cause__, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError)
            raise (ModelMisconfigured if wrong_address else ModelUnavailable) from None
        except APIStatusError as error:
            wait = seconds_to_wait(error.response.headers)
            raise refusal(error.status_code, str(error.body), wait) from None
        except (OpenAIError, httpx2.InvalidURL, AttributeError, TypeError, ValueError):
            raise EmbeddingMismatch from None  # a web page, or another protocol
        return self._checked(rows, count=len(pieces))

    def _checked(self, rows: Sequence[Sequence[float]], *, count: int) -> list[Vectors]:
        """The rows as vectors. Raises EmbeddingMismatch when they are not what was asked for, or not as before."""
        sizes = {len(row) for row in rows}
        known = {self._dimension} if self._dimension else sizes
        if len(rows) != count or len(sizes) != 1 or sizes != known or 0 in sizes:
            raise EmbeddingMismatch
        vectors = np.asarray(rows, dtype=np.float32)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(norms).all() or not norms.all():
            raise EmbeddingMismatch
        self._dimension = vectors.shape[1]
        return list(vectors / norms)
