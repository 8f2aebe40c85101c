"""The ways to search that `bench.recall` compares, over one owner's documents in memory.

Each gives, for a question, the places of documents, best first. The two baselines are what a plain search would be:
BM25 (K1 1.2, B 0.75) over lower-case words between blanks, and pairs of characters where there is Chinese; and the
cosine of the local embedder. Neither sees any context.
"""

import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise

import numpy as np

from bench.recall_sets import Owner
from llm.embedders import Embedder, Vectors
from memory.retrieval import bm25
from memory.retrieval.fusion import Candidate, QueryFeatures, rank
from memory.retrieval.tokens import tokens, tokens_of_unit

DEPTH = 80
"""Hits of each leg that are fused, as the product does it."""
PATIENCE = 600.0
BATCH = 64
CHINESE = re.compile("[\u3400-\u9fff]+")


class Index:
    """BM25 over the tokens of documents."""

    def __init__(self, documents: Sequence[Counter[str]]) -> None:
        self.units = len(documents)
        self._lengths = [sum(document.values()) for document in documents]
        self._average = max(1.0, sum(self._lengths) / max(1, self.units))
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, document in enumerate(documents):
            for token, frequency in document.items():
                self._postings[token].append((place, frequency))

    def frequencies(self, query: Counter[str]) -> dict[str, int]:
        """How many documents hold each token."""
        return {token: len(self._postings.get(token, ())) for token in query}

    def scores(self, query: Counter[str]) -> dict[int, float]:
        """The places of the documents that share a token with the query, with their scores, best first."""
        found: dict[int, float] = defaultdict(float)
        for token in query:
            postings = self._postings.get(token, ())
            telling = bm25.idf(self.units, len(postings))
            for place, frequency in postings:
                length = self._lengths[place]
                found[place] += telling * bm25.weight(frequency, length=length, average=self._average)
        return dict(sorted(found.items(), key=lambda hit: -hit[1]))


class InMemory:
    """All ways but the product's own tables."""

    def __init__(self, owner: Owner, embedder: Embedder) -> None:
        texts, self._contexts = [document.text for document in owner.documents], owner.contexts
        self._owner, self._embedder = owner, embedder
        self._plain = Index([plain_tokens(text) for text in texts])
        with_context = list(zip(texts, self._contexts, strict=True))
        self._words = Index([tokens_of_unit(text, context=context) for text, context in with_context])
        self._plain_vectors = self._embed(texts)
        self._vectors = self._embed([f"{context}\n\n{text}" if context else text for text, context in with_context])
        self._sessions = {document.session: uuid.uuid4() for document in owner.documents}
        self._now = max(document.said_at for document in owner.documents) + timedelta(days=1)

    def rankings(self, question: str) -> dict[str, list[int]]:
        """By the name of the way, the places of documents, best first."""
        asked = self._embed([question])[0]
        words, cosines = self._words.scores(tokens(question)), self._vectors @ asked
        return {
            "plain BM25": list(self._plain.scores(plain_tokens(question))),
            "plain cosine": _ordered(self._plain_vectors @ asked),
            "keyword": list(words),
            "vector": _ordered(cosines),
            "fused": [hit for hit, _ in self.fused(question, words=words, cosines=cosines)],
        }

    def fused(self, question: str, *, words: dict[int, float], cosines: np.ndarray) -> list[tuple[int, float]]:
        """Places with their scores, as `fusion.rank` has them."""
        query = tokens(question)
        features = QueryFeatures(query, self._words.frequencies(query), self._words.units)
        best = dict(list(words.items())[:DEPTH])
        candidates = [self._candidate(place, best, cosines) for place in {*best, *_ordered(cosines)[:DEPTH]}]
        return [(hit.id, hit.score) for hit in rank(features, candidates, now=self._now)]

    @property
    def now(self) -> datetime:
        """A day after the last document."""
        return self._now

    def _candidate(self, place: int, words: dict[int, float], cosines: np.ndarray) -> Candidate:
        document = self._owner.documents[place]
        return Candidate(
            id=place,
            keyword=words.get(place),
            vector=float(cosines[place]),
            session=self._sessions[document.session] if document.session is not None else None,
            seq=place,
            occurred_at=document.said_at,
            text=document.text,
        )

    def _embed(self, texts: list[str]) -> Vectors:
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        return np.concatenate([self._embedder.embed(batch, timeout=PATIENCE) for batch in batches])


def plain_tokens(text: str) -> Counter[str]:
    """Lower-case words between blanks without their marks; of Chinese, the pairs of characters."""
    counts: Counter[str] = Counter()
    for run in CHINESE.findall(text):
        counts.update(map("".join, pairwise(run)) if len(run) > 1 else [run])
    counts.update(word for word in re.findall(r"\w+", CHINESE.sub(" ", text.lower())))
    return counts


def _ordered(scores: np.ndarray) -> list[int]:
    return [int(place) for place in np.argsort(-scores, kind="stable")]
