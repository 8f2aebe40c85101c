"""M12: what time takes, and what it leaves."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from config.beat import SCHEDULE
from memory import episodes, retention, tasks, window
from memory.manager import MemoryManager
from memory.models import (
    Conversation,
    Entity,
    Episode,
    EpisodeOrigin,
    EpisodeStatus,
    Erasure,
    MemoryOwner,
    Posting,
    Turn,
    Unit,
)
from memory.retrieval.search import Query
from tests.factories import ConversationFactory, TurnFactory, UserFactory
from tests.memory.hot_copy import memory_keys
from tests.memory.memories import aged, remembered

pytestmark = pytest.mark.django_db(transaction=True)
FACT = "北斗项目由李娜负责上线。"


@pytest.fixture
def bob() -> User:
    return UserFactory(username="bob")


def session(user: User, *words: str, days: int = 0) -> Conversation:
    """A session that was last active so many days ago, with its hot copy."""
    conversation = ConversationFactory(user=user)
    for said in words or (FACT,):
        TurnFactory(conversation=conversation, input=said)
    MemoryManager()._rebuilt(conversation, conversation.last_seq, memory=True)
    at = timezone.now() - timedelta(days=days)
    Conversation.objects.filter(pk=conversation.pk).update(last_active_at=at)
    return conversation


def found(user: User, words: str, **options: Any) -> list[uuid.UUID]:
    context = MemoryManager().retrieve_memory(user, Query(words, **options))
    return [hit.id for hit in context.hits if hit.kind == "episode"]


def status(episode: Episode) -> str:
    episode.refresh_from_db()
    return str(episode.status)


def test_a_transcript_goes_a_year_after_it_was_last_active_and_leaves_nothing_behind(bob: User) -> None:
    old, young = session(bob, days=366), session(bob, "还在用", days=364)
    kept = Turn.objects.filter(conversation=young).values().get()
    assert len([key for key in memory_keys() if str(old.pk) in key]) == 2
    assert retention.sweep_transcripts() == 1
    assert list(Conversation.objects.values_list("pk", flat=True)) == [young.pk]
    assert list(Turn.objects.values()) == [kept]
    assert not [key for key in memory_keys() if str(old.pk) in key]
    assert window.recent_members(bob.pk) == [f"1:{young.pk}"]
    assert not Erasure.objects.exists()
    assert retention.sweep_transcripts() == 0


def test_memories_outlive_the_transcript_that_they_came_from(bob: User) -> None:
    old = session(bob, days=400)
    episode = remembered(bob, FACT, conversation=old, days=1)
    retention.sweep_transcripts()
    episode.refresh_from_db()
    assert (episode.conversation_id, episode.turns.count(), episode.status) == (None, 0, "active")
    assert Unit.objects.get().episode == episode
    assert found(bob, "北斗项目谁负责？") == [episode.pk]
    assert Entity.objects.of(bob).exists()


def test_a_memory_rests_after_90_days_and_is_still_found_by_whoever_searches(bob: User) -> None:
    old, young = remembered(bob, FACT, days=91), remembered(bob, "发票模板换成了新版式。", days=89)
    assert found(bob, "北斗项目谁负责？") == [old.pk]
    assert retention.archive_episodes() == 1
    assert (status(old), status(young)) == ("archived", "active")
    assert found(bob, "北斗项目谁负责？") == []
    assert found(bob, "北斗项目谁负责？", flow_id=1) == []
    assert found(bob, "北斗项目谁负责？", except_session=uuid.uuid4()) == []
    assert found(bob, "北斗项目谁负责？", archived=True) == [old.pk]
    assert found(bob, "发票模板换了吗？") == [young.pk]
    assert retention.archive_episodes() == 0


@pytest.mark.parametrize(
    "fields",
    [{"pinned": True}, {"origin": EpisodeOrigin.SAID}, {"origin": EpisodeOrigin.MANUAL}, {"edited": True}],
    ids=["pinned", "said", "written", "edited"],
)
def test_what_a_person_cared_for_never_rests(bob: User, fields: dict[str, Any]) -> None:
    kept = remembered(bob, FACT, days=4000, **fields)
    assert retention.archive_episodes() == 0
    assert status(kept) == "active"


def test_a_restored_memory_is_recalled_again_and_does_not_rest_the_next_night(bob: User) -> None:
    old = remembered(bob, FACT, days=200)
    retention.archive_episodes()
    restored = retention.restore(bob, old.pk)
    assert restored
    assert status(old) == "active"
    assert found(bob, "北斗项目谁负责？") == [old.pk]
    assert retention.archive_episodes() == 0
    aged(old, timezone.now() - timedelta(days=91))
    assert retention.archive_episodes() == 1


def test_nobody_restores_somebody_elses_memory(bob: User) -> None:
    old = remembered(bob, FACT, days=200)
    retention.archive_episodes()
    assert retention.restore(UserFactory(), old.pk) is None
    assert retention.restore(bob, uuid.uuid4()) is None
    assert status(old) == "archived"


def test_a_memory_that_was_said_again_meanwhile_is_not_there_twice(bob: User) -> None:
    old = remembered(bob, FACT, days=200)
    retention.archive_episodes()
    again = remembered(bob, FACT)
    assert status(again) == "active"
    retention.restore(bob, old.pk)
    assert (status(old), status(again)) == ("archived", "active")


def test_the_heir_of_a_resting_memory_rests_too(bob: User) -> None:
    first = remembered(bob, FACT, days=200)
    heir = remembered(bob, FACT, days=150)
    assert status(heir) == "merged"
    retention.archive_episodes()
    episodes.forget(bob, [first.pk])
    assert status(heir) == "archived"
    assert Unit.objects.get(episode=heir).archived


def test_with_0_days_nothing_ever_goes(bob: User, settings: Any) -> None:
    settings.TRANSCRIPT_DAYS = settings.EPISODE_ARCHIVE_DAYS = 0
    session(bob, days=9999)
    remembered(bob, FACT, days=9999)
    assert (retention.sweep_transcripts(), retention.archive_episodes()) == (0, 0)


def test_a_session_that_somebody_uses_just_now_is_left_for_the_next_night(bob: User) -> None:
    old = session(bob, days=400)
    Conversation.objects.filter(pk=old.pk).update(last_active_at=timezone.now())
    assert retention.sweep_transcripts() == 0
    assert Conversation.objects.filter(pk=old.pk).exists()


def queries(work: Callable[[], int], *, wanted: int) -> int:
    with CaptureQueriesContext(connection) as taken:
        assert work() == wanted
    return len(taken)


def test_a_night_takes_as_many_statements_for_many_as_for_few(bob: User) -> None:
    """48: set by set, within a batch."""
    taken = []
    for count in (3, 30):
        people = [bob, *(UserFactory() for _ in range(count // 3))]
        for number in range(count):
            said = session(people[number % len(people)], *(f"第{number}批第{part}次" for part in range(3)), days=400)
            remembered(said.user, f"第{number}号会议纪要归档在{uuid.uuid4()}。", conversation=said, days=200)
        archived = queries(retention.archive_episodes, wanted=count)
        taken.append((archived, queries(retention.sweep_transcripts, wanted=count)))
    assert taken[0] == taken[1]
    assert (Turn.objects.count(), Unit.objects.filter(kind="turn").count(), Erasure.objects.count()) == (0, 0, 0)
    units = set(Unit.objects.values_list("pk", flat=True))
    assert set(Posting.objects.values_list("unit", flat=True)) <= units


def test_a_full_batch_is_followed_by_the_next(bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "SESSIONS", 2)
    monkeypatch.setattr(retention, "EPISODES", 2)
    for number in range(5):
        session(bob, days=400)
        remembered(bob, f"{uuid.uuid4()} 归档 {number}", days=200)
    assert (retention.archive_episodes(), retention.sweep_transcripts()) == (5, 5)
    assert not Episode.objects.filter(status=EpisodeStatus.ACTIVE).exists()


def test_beat_does_it_every_night(bob: User) -> None:
    nightly = (tasks.merge_memories, tasks.archive_memories, tasks.sweep_transcripts)
    assert {task.name for task in nightly} <= {entry["task"] for entry in SCHEDULE.values()}
    session(bob, days=400)
    remembered(bob, FACT, days=200)
    for task in nightly:
        task()
    assert not Conversation.objects.exists()
    assert Episode.objects.get().status == "archived"
    assert MemoryOwner.objects.filter(user=bob).exists()
