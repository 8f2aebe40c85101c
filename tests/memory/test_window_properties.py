"""Whatever happens in a conversation, the next prompt holds its turns in order and none too many (M3, M5)."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import override_settings
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.manager import MemoryManager
from memory.models import Conversation, Turn, TurnStatus
from memory.turns import OpenedTurn, Outcome, TurnRequest
from tests.factories import UserFactory
from tests.memory.hot_copy import items, redis

pytestmark = pytest.mark.django_db
memory = MemoryManager()

CAPACITY = 6
ENDS = {
    "answered": (TurnStatus.COMPLETE, True),
    "stopped": (TurnStatus.STOPPED, True),
    "stopped before the first word": (TurnStatus.STOPPED, False),
    "failed in the middle": (TurnStatus.FAILED, True),
    "failed at once": (TurnStatus.FAILED, False),
    "interrupted": (TurnStatus.INTERRUPTED, True),
}
MISHAPS = ("killed before the commit", "killed behind the commit", "flushed", "edited")
happenings = st.lists(st.sampled_from([*ENDS, *MISHAPS]), max_size=14)
words = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), min_size=1)


class Story:
    """A conversation that things happen to, and the exchanges that the model should be sent of it."""

    def __init__(self, user: User) -> None:
        self.user = user
        self.session: Conversation | None = None
        self.exchanges: list[tuple[str, str]] = []
        self.replaceable: tuple[Turn, bool] | None = None
        self.number = 0

    def happens(self, what: str) -> None:
        match what:
            case "flushed":
                redis().flushdb()
            case "edited" if self.replaceable:
                old, replayed = self.replaceable
                self.turn(TurnStatus.COMPLETE, True, replaces=old, drops=replayed)
            case "edited":
                pass
            case "killed before the commit":
                opened, _ = self.opened()
                Turn.objects.filter(pk=opened.turn.pk).update(status=TurnStatus.INTERRUPTED)
                self.replaceable = (opened.turn, False)
            case "killed behind the commit":
                opened, question = self.opened()
                answer = f"A{self.number}"
                Turn.objects.filter(pk=opened.turn.pk).update(status=TurnStatus.COMPLETE, output=answer)
                self.exchanges.append((question, answer))
                self.replaceable = (opened.turn, True)
            case _:
                self.turn(*ENDS[what])

    def turn(self, status: TurnStatus, has_text: bool, *, replaces: Turn | None = None, drops: bool = False) -> None:
        if drops:
            self.exchanges.pop()
        opened, question = self.opened(replaces)
        answer = f"A{self.number}" if has_text else ""
        memory.record_exchange(
            self.user, conversation=opened.conversation, turn=opened.turn, outcome=Outcome(status, answer)
        )
        replayed = has_text and status != TurnStatus.FAILED
        if replayed:
            self.exchanges.append((question, answer))
        self.replaceable = (opened.turn, replayed)

    def opened(self, replaces: Turn | None = None) -> tuple[OpenedTurn, str]:
        """The next turn, after checking what the model is sent of those before."""
        self.number += 1
        question = f"Q{self.number}"
        opened = memory.open_turn(self.user, request(question, self.session, replaces))
        self.session = opened.conversation
        messages = memory.inject_memory(self.user, conversation=opened.conversation, turn=opened.turn).messages
        assert [message["content"] for message in messages] == [text for pair in self.exchanges for text in pair]
        assert [message["role"] for message in messages] == ["user", "assistant"] * len(self.exchanges)
        numbers = [message["seq"] for message in messages]
        assert numbers == sorted(set(numbers))
        return opened, question


def request(question: str, session: Conversation | None = None, replaces: Turn | None = None) -> TurnRequest:
    return TurnRequest(
        flow_id=1,
        flow_name="通用助手",
        flow_version=1,
        input=question,
        session_id=session.pk if session else None,
        replaces=replaces.pk if replaces else None,
    )


@pytest.fixture(autouse=True)
def small_window() -> Iterator[None]:
    with override_settings(WINDOW_MESSAGES=CAPACITY):
        yield


@pytest.fixture
def user() -> User:
    return UserFactory()


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(happened=happenings)
def test_the_model_is_sent_every_replayable_turn_in_order(user: User, happened: list[str]) -> None:
    """M3, M5, M6: after any course of turns, kills, flushes and edits; the copy never holds more than it may."""
    story = Story(user)
    for what in happened:
        story.happens(what)
        if story.session:
            assert len(items(story.session.pk)) <= CAPACITY
    story.opened()


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(exchanges=st.lists(st.tuples(words, words), min_size=1, max_size=4), flush=st.booleans())
def test_any_text_comes_back_byte_for_byte(user: User, exchanges: list[tuple[str, str]], flush: bool) -> None:
    """M5: from Redis and from PostgreSQL alike."""
    session: Any = None
    for question, answer in exchanges:
        opened = memory.open_turn(user, request(question, session))
        session = opened.conversation
        outcome = Outcome(TurnStatus.COMPLETE, answer)
        memory.record_exchange(user, conversation=session, turn=opened.turn, outcome=outcome)
    if flush:
        redis().flushdb()
    last = memory.open_turn(user, request("?", session))
    messages = memory.inject_memory(user, conversation=last.conversation, turn=last.turn).messages
    assert [message["content"].encode() for message in messages] == [
        text.encode() for exchange in exchanges for text in exchange
    ]
