"""The product's own tables and search, asked by `bench.recall`: each owner a person, each document a turn."""

import uuid
from itertools import groupby
from typing import Self

from django.contrib.auth.models import User

from bench.recall_sets import Document, Owner
from memory.indexing import index_due_sessions
from memory.models import Conversation, Turn, TurnStatus
from memory.retrieval.search import Query, search

FLOW_ID = 1
ANSWER = "…"
"""A turn needs an answer to be searched; this one holds no word."""
PATIENCE = 60.0
LIMIT = 10


class Stored:
    """The documents of one owner, indexed. A context manager: the person is gone behind it."""

    def __init__(self, owner: Owner) -> None:
        self._user = User.objects.create(username=f"bench-{uuid.uuid4().hex}")
        self._places: dict[uuid.UUID, int] = {}
        alone = ((place, document) for place, document in enumerate(owner.documents))
        for _, session in groupby(alone, key=lambda placed: placed[1].session or placed):
            self._talk(list(session))
        while index_due_sessions(limit=100):
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._user.delete()

    def found(self, question: str) -> list[int]:
        """The places of at most LIMIT documents, best first."""
        answer = search(self._user, Query(question, limit=LIMIT, deadline=PATIENCE))
        assert not answer.missing, answer.missing
        return [self._places[hit.id] for hit in answer.hits]

    def _talk(self, said: list[tuple[int, Document]]) -> None:
        """A conversation in which the documents are said one after the other."""
        last = said[-1][1].said_at
        conversation = Conversation.objects.create(
            user=self._user, flow_id=FLOW_ID, flow_name="bench", flow_version=1, last_seq=2 * len(said), created_at=last
        )
        turns = [
            Turn(
                conversation=conversation,
                user=self._user,
                flow_id=FLOW_ID,
                seq=2 * number + 1,
                input=document.text,
                output=ANSWER,
                status=TurnStatus.COMPLETE,
                started_at=document.said_at,
                finished_at=document.said_at,
            )
            for number, (_, document) in enumerate(said)
        ]
        Turn.objects.bulk_create(turns)
        self._places |= {turn.pk: place for turn, (place, _) in zip(turns, said, strict=True)}
