"""The sets that `bench.recall` asks: documents of owners, and questions with the documents that answer them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

TIMES = ("%I:%M %p on %d %B, %Y", "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S")


@dataclass(frozen=True)
class Document:
    """What somebody said. `session` None: it stands alone; else the document before it may be its context."""

    id: str
    text: str
    said_at: datetime
    session: str | None = None


@dataclass(frozen=True)
class Question:
    """A question and the ids of the documents that answer it; none: nothing should be found."""

    text: str
    gold: frozenset[str]
    category: str


@dataclass(frozen=True)
class Owner:
    """One person's documents, in order, and the questions that are put to them alone."""

    name: str
    documents: list[Document]
    questions: list[Question]

    @property
    def contexts(self) -> list[str]:
        """For each document the text of the one before it in its session, or nothing."""
        before = [None, *self.documents[:-1]]
        return [
            a.text if a and a.session is not None and a.session == b.session else ""
            for a, b in zip(before, self.documents, strict=True)
        ]


def load(path: Path) -> list[Owner]:
    """The owners of a file as bench/data/README.md describes it. Gold that is no document is left out."""
    rows = sorted(map(json.loads, path.read_text(encoding="utf-8").splitlines()), key=lambda row: str(row["owner"]))
    return [_owner(name, list(own)) for name, own in groupby(rows, key=lambda row: str(row["owner"]))]


def _owner(name: str, rows: list[dict[str, Any]]) -> Owner:
    documents = [_document(row) for row in rows if row["kind"] == "document"]
    known = {document.id for document in documents}
    return Owner(name, documents, list(_questions(rows, known)))


def _document(row: dict[str, Any]) -> Document:
    said = f"{row['speaker']}: {row['text']}" if row.get("speaker") else row["text"]
    session = None if row.get("session") is None else str(row["session"])
    return Document(str(row["id"]), said, _time(row.get("time", "2025-01-01")), session)


def _questions(rows: list[dict[str, Any]], known: set[str]) -> Iterator[Question]:
    for row in rows:
        if row["kind"] == "question":
            gold = frozenset(map(str, row["gold"])) & known
            if gold or not row["gold"]:
                yield Question(row["text"], gold, row.get("category", ""))


def _time(written: str) -> datetime:
    for form in TIMES:
        try:
            return datetime.strptime(written, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    raise ValueError(f"A time that none of {TIMES} reads: {written}")
