"""An embedder that tests understand: each of a few subjects is a direction, whatever the words for it."""

import threading
from typing import Any

import numpy as np

from llm.errors import ModelUnavailable

SUBJECTS = (("假期", "放假", "vacation"), ("报销", "发票", "expenses"), ("上线", "发布", "launch"))


class SubjectEmbedder:
    """`fails`: it raises. `hold`: it waits for this event first."""

    def __init__(self, model: str = "subjects-1", *, dimension: int = 8) -> None:
        self.model, self.dimension = model, dimension
        self.fails = False
        self.hold: threading.Event | None = None
        self.seen: list[str] = []

    def embed(self, texts: list[str], *, timeout: float) -> Any:
        self.seen += texts
        if self.hold and not self.hold.wait(timeout):
            raise ModelUnavailable
        if self.fails:
            raise ModelUnavailable
        return np.array([self._vector(text) for text in texts], dtype=np.float32)

    def _vector(self, text: str) -> Any:
        vector = np.zeros(self.dimension)
        vector[-1] = 0.1  # what speaks of no subject points here
        for place, words in enumerate(SUBJECTS):
            vector[place] = sum(word in text for word in words)
        return vector / np.linalg.norm(vector)
