"""L7: what a memory says twice is brought together by night, and nothing is lost by it."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory import merging, retention
from memory.episodes import postgres
from memory.forgetting import Scope, erase
from memory.manager import MemoryManager
from memory.models import Conversation, Episode, MemoryOwner, Unit
from tests.factories import ConversationFactory, TurnFactory, UserFactory
from tests.memory.memories import remembered

pytestmark = pytest.mark.django_db(transaction=True)
FACT = "北斗项目的上线日期定在五月三日，由李娜负责联调和验收，周五例会上向研发中心汇报进度。"
NEAR = "北斗项目的上线日期定在五月三日，由李娜负责联调和验收，周五例会上向研发中心汇报进度吧。"


@pytest.fixture
def bob() -> User:
    return UserFactory(username="bob")


@pytest.fixture(autouse=True)
def unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memories that came in apart, as in two processes at once: storing compared neither with the other."""
    monkeypatch.setattr(postgres, "_said_before", lambda *_: None)


def session(user: User) -> Conversation:
    conversation = ConversationFactory(user=user)
    TurnFactory(conversation=conversation, input=FACT)
    return conversation


def status(*stored: Episode) -> list[str]:
    for episode in stored:
        episode.refresh_from_db()
    return [str(episode.status) for episode in stored]


def test_near_duplicates_become_one_and_the_newer_stays(bob: User) -> None:
    older, newer = remembered(bob, FACT, days=3), remembered(bob, NEAR, days=1)
    assert merging.merge_due_owners() == 1
    assert status(older, newer) == ["merged", "active"]
    assert older.merged_into == newer
    assert [unit.episode_id for unit in Unit.objects.all()] == [newer.pk]
    assert older.entities.exists(), "its sources are its own"
    assert merging.merge_due_owners() == 0


@pytest.mark.parametrize("fields", [{"pinned": True}, {"edited": True}], ids=["pinned", "edited"])
def test_what_its_owner_chose_stays_and_two_such_stay_both(bob: User, fields: dict[str, Any]) -> None:
    chosen, newer = remembered(bob, FACT, days=9, **fields), remembered(bob, NEAR)
    merging.merge_due_owners()
    assert status(chosen, newer) == ["active", "merged"]
    other = remembered(bob, NEAR.replace("吧", "呢"), **fields)
    merging.merge_due_owners()
    assert status(chosen, other) == ["active", "active"]


@pytest.mark.parametrize(
    "other",
    [
        FACT.replace("三日", "八日"),
        FACT.replace("李娜", "王芳"),
        FACT.replace("由李娜", "不由李娜"),
        FACT.replace("北斗", "南极"),
        "发票模板换成了新版式。",
    ],
    ids=["another date", "another person", "a denial", "another project", "something else"],
)
def test_another_statement_is_never_merged_however_alike_it_sounds(bob: User, other: str) -> None:
    both = remembered(bob, FACT, days=3), remembered(bob, other)
    assert merging.merge_due_owners() == 0
    assert status(*both) == ["active", "active"]


def test_nobodys_memory_meets_somebody_elses(bob: User) -> None:
    mine, theirs = remembered(bob, FACT), remembered(UserFactory(), FACT)
    assert merging.merge_due_owners() == 0
    assert status(mine, theirs) == ["active", "active"]


def test_a_merge_is_undone_for_good(bob: User) -> None:
    older, newer = remembered(bob, FACT, days=3), remembered(bob, NEAR)
    merging.merge_due_owners()
    retention.restore(bob, older.pk)
    assert status(older, newer) == ["active", "active"]
    assert Unit.objects.count() == 2
    assert merging.merge_due_owners() == 0
    Episode.objects.filter(pk=newer.pk).update(updated_at=timezone.now())
    assert merging.merge_due_owners() == 0
    assert status(older, newer) == ["active", "active"]


def test_when_the_one_that_stayed_goes_the_merged_one_takes_its_place(bob: User) -> None:
    """49: what remains of a fact stands on what remains of its sources."""
    first, second = session(bob), session(bob)
    older = remembered(bob, FACT, conversation=first, days=3)
    newer = remembered(bob, NEAR, conversation=second)
    merging.merge_due_owners()
    erase(bob, scope=Scope.SESSION, session_id=second.pk)
    assert status(older) == ["active"]
    assert not Episode.objects.filter(pk=newer.pk).exists()
    found = MemoryManager().retrieve_memory(bob, "北斗项目什么时候上线？")
    assert [hit.id for hit in found.related_episodes] == [older.pk]
    assert {entity["name"] for entity in found.related_entities} >= {"李娜"} or found.related_entities


def test_what_was_merged_into_a_merged_one_moves_up(bob: User) -> None:
    texts = [FACT, NEAR, NEAR.replace("吧", "呢")]
    first, second, third = (remembered(bob, text, days=9 - number) for number, text in enumerate(texts))
    Episode.objects.filter(pk=first.pk).update(status="merged", merged_into=second)
    Episode.objects.filter(pk=second.pk).update(status="merged", merged_into=third)
    postgres.forget(bob, [second.pk])
    assert status(first) == ["merged"]
    assert first.merged_into == third
    postgres.forget(bob, [third.pk])
    assert status(first) == ["active"]


def test_of_several_heirs_who_say_the_same_one_takes_over(bob: User) -> None:
    kept = remembered(bob, NEAR)
    heirs = [remembered(bob, f"临时 {number} {FACT}") for number in range(3)]
    Episode.objects.filter(pk__in=[heir.pk for heir in heirs]).update(
        status="merged", merged_into=kept, summary=FACT, fingerprint=heirs[0].fingerprint
    )
    postgres.forget(bob, [kept.pk])
    assert sorted(status(*heirs)) == ["active", "merged", "merged"]
    assert Unit.objects.count() == 1


def test_a_memory_is_compared_with_those_that_share_its_rare_words_alone(bob: User) -> None:
    """Two hundred others cost no more than twenty do."""
    taken = []
    for count in (20, 200):
        Episode.objects.all().delete()
        MemoryOwner.objects.all().delete()
        for number in range(count):
            remembered(bob, f"第{number}号会议纪要由{chr(0x4E00 + 37 * number)}{chr(0x5E00 + number)}归档。", days=30)
        merging.merge_due_owners()
        older, newer = remembered(bob, FACT, days=3), remembered(bob, NEAR)
        with CaptureQueriesContext(connection) as queries:
            assert merging.merge_due_owners() == 1
        assert status(older, newer) == ["merged", "active"]
        taken.append(len(queries))
    assert taken[0] == taken[1]


def test_only_what_has_changed_is_looked_at_again(bob: User) -> None:
    remembered(bob, FACT, days=3)
    merging.merge_due_owners()
    with CaptureQueriesContext(connection) as queries:
        merging.merge_due_owners()
    assert not [query for query in queries if "memory_posting" in query["sql"]]
    remembered(bob, NEAR, days=5)
    assert merging.merge_due_owners() == 0, "its last change lies before that"
    Episode.objects.update(updated_at=timezone.now() + timedelta(seconds=1))
    assert merging.merge_due_owners() == 1


def test_what_is_erased_while_it_is_compared_stays_away(bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    """M10."""
    remembered(bob, FACT, conversation=session(bob), days=3)
    remembered(bob, NEAR, conversation=session(bob))
    compared = merging.says_the_same

    def erased_meanwhile(*told: Any) -> bool:
        thread = threading.Thread(target=_erase, args=(bob,))
        thread.start()
        thread.join()
        return compared(*told)

    monkeypatch.setattr(merging, "says_the_same", erased_meanwhile)
    assert merging.merge_due_owners() == 0
    assert not Episode.objects.exists()
    assert not Unit.objects.exists()


def _erase(user: User) -> None:
    try:
        erase(user, scope=Scope.ALL)
    finally:
        connection.close()
