"""What tests of search share: two people's conversations, and an embedder that can be made to fail."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from memory import indexing, reindexing
from memory.models import Conversation
from memory.retrieval import embedding, search
from memory.retrieval.search import Found, Query
from tests.factories import ConversationFactory, TurnFactory, UserFactory
from tests.memory.retrieval.embedders import SubjectEmbedder

PATIENCE = 30.0
"""Seconds: what is tested is what is found, on however busy a machine."""


@pytest.fixture(autouse=True)
def use(monkeypatch: pytest.MonkeyPatch, transactional_db: None) -> Iterator[Callable[[Any], None]]:
    """Makes an embedder the one of this process; none until it is called."""

    def use(embedder: Any) -> None:
        for module in (search, indexing, reindexing):
            monkeypatch.setattr(module, "resolve_embedder", lambda: embedder)

    use(None)
    close_breakers()
    yield use
    close_breakers()


def close_breakers() -> None:
    for breaker in (search.database_breaker, search.embedder_breaker, embedding.breaker):
        breaker.succeeded()


@pytest.fixture
def embedder(use: Callable[[Any], None]) -> SubjectEmbedder:
    embedder = SubjectEmbedder()
    use(embedder)
    return embedder


@pytest.fixture
def bob() -> User:
    return UserFactory(username="bob")


@pytest.fixture
def carol() -> User:
    return UserFactory(username="carol")


def said(user: User, *turns: tuple[str, str], **fields: Any) -> Conversation:
    """A session of `user` with these questions and answers."""
    conversation = ConversationFactory(user=user, **fields)
    for question, answer in turns:
        TurnFactory(conversation=conversation, input=question, output=answer)
    return conversation


def index() -> None:
    """Indexes all there is to index."""
    while indexing.index_due_sessions():
        pass


def found(user: User, text: str, **options: Any) -> Found:
    return search.search(user, Query(text, deadline=PATIENCE, **options))


def questions(user: User, text: str, **options: Any) -> list[str]:
    """The questions of the turns that are found, best first. Nothing may be missing."""
    answer = found(user, text, **options)
    assert answer.missing == ()
    return [hit.question for hit in answer.hits]
