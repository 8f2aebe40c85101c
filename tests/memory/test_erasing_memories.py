"""M10: memories go with what they were drawn from; what is drawn from elsewhere too stays, and so do other people's."""

import json
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils import timezone

from memory import consolidation, dead_letters, indexing, remembering, summaries
from memory.dead_letters import ask_for_retry, retry_due
from memory.errors import SessionNotFound
from memory.forgetting import Report, Scope, erase
from memory.manager import MemoryManager
from memory.models import Conversation, DeadLetter, Entity, Episode, EpisodeOrigin, MemoryOwner, Relation, Turn, Unit
from memory.remembering import remember
from memory.summaries import fold_due_summaries
from tests.doubles import Answer, ModelServer
from tests.factories import ConversationFactory, TurnFactory, UserFactory
from tests.memory.memories import remembered
from tests.waiting import eventually

pytestmark = pytest.mark.django_db(transaction=True)
FACT = "《北斗》由李娜负责上线。"
ALONE = "《南极》归王芳管预算。"
MADE = (Episode, Entity, Relation, Unit)


@pytest.fixture
def bob() -> User:
    return UserFactory(username="bob")


@pytest.fixture
def carol() -> User:
    return UserFactory(username="carol")


def session(user: User, *, flow: int = 1, words: str = FACT) -> Conversation:
    conversation = ConversationFactory(user=user, flow_id=flow)
    TurnFactory(conversation=conversation, input=words, flow_id=flow)
    return conversation


def rows(user: User) -> list[list[dict[str, Any]]]:
    """Everything that was made for a person."""
    return [list(table.objects.filter(user=user).order_by("pk").values()) for table in (*MADE, Turn, Conversation)]


def names(user: User) -> set[str]:
    return set(Entity.objects.of(user).values_list("name", flat=True))


@pytest.mark.parametrize("scope", list(Scope))
def test_each_scope_takes_what_was_drawn_from_it_alone(bob: User, carol: User, scope: Scope) -> None:
    """1, 49: two people know the same; one fact of Bob's stands in both flows, another in one session alone."""
    first, second, third = session(bob), session(bob), session(bob, flow=2)
    remembered(carol, FACT, conversation=session(carol))
    theirs = rows(carol)
    shared = remembered(bob, FACT, conversation=first)
    heirs = [remembered(bob, FACT, conversation=other) for other in (second, third)]
    pinned = remembered(bob, ALONE, conversation=first, origin=EpisodeOrigin.SAID, pinned=True)
    written = remembered(bob, "报销单写全称。", origin=EpisodeOrigin.MANUAL)
    assert [heir.merged_into for heir in heirs] == [shared, shared]
    ids = {Scope.SESSION: {"session_id": first.pk}, Scope.FLOW: {"flow_id": 1}, Scope.ALL: {}}[scope]
    report = erase(bob, scope=scope, **ids)
    left = {Scope.SESSION: [*heirs, written], Scope.FLOW: [heirs[1], written], Scope.ALL: []}[scope]
    assert set(Episode.objects.of(bob)) == set(left)
    assert report.episodes == 5 - len(left)
    assert pinned not in left
    assert (
        sorted(Episode.objects.of(bob).values_list("status", flat=True))
        == {
            Scope.SESSION: ["active", "active", "merged"],
            Scope.FLOW: ["active", "active"],
            Scope.ALL: [],
        }[scope]
    )
    assert names(bob) == (set() if scope is Scope.ALL else {"北斗", "李娜"} & names(carol))
    active = Episode.objects.of(bob).recalled()
    assert set(Unit.objects.of(bob).values_list("episode", flat=True)) == set(active.values_list("pk", flat=True))
    assert rows(carol) == theirs


def test_the_fact_is_recalled_from_what_remains_of_it(bob: User) -> None:
    first = session(bob)
    remembered(bob, FACT, conversation=first)
    heir = remembered(bob, FACT, conversation=session(bob))
    erase(bob, scope=Scope.SESSION, session_id=first.pk)
    found = MemoryManager().retrieve_memory(bob, "北斗谁负责上线？").related_episodes
    assert [hit.id for hit in found] == [heir.pk]
    assert [hit.turn_ids for hit in found] == [[turn.pk for turn in heir.turns.all()]]


def test_a_memory_that_outlived_its_session_goes_with_its_flow(bob: User) -> None:
    outlived = remembered(bob, FACT, conversation=session(bob))
    Episode.objects.filter(pk=outlived.pk).update(conversation=None)
    Unit.objects.update(conversation=None)
    Conversation.objects.all().delete()
    with pytest.raises(SessionNotFound):
        erase(bob, scope=Scope.FLOW, flow_id=2)
    assert erase(bob, scope=Scope.FLOW, flow_id=1).episodes == 1
    assert not any(table.objects.exists() for table in MADE)


def test_the_report_counts_each_table(bob: User) -> None:
    remembered(bob, FACT, conversation=session(bob))
    report = erase(bob, scope=Scope.ALL)
    assert (report.turns, report.episodes, report.graph) == (1, 1, report.tables["memory_entity"] + 1)
    assert report.tables["memory_turn"] == report.tables["memory_episode"] == report.tables["memory_unit"] == 1
    assert report.tables["memory_posting"] > 5
    assert set(report.as_dict()) == {"removed", "tables", "pending"}
    assert erase(bob, scope=Scope.ALL) == Report()


def meanwhile(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, act: Callable[[], Any]) -> None:
    """Has something happen while a job has begun and not stored yet."""
    before = getattr(module, name)

    def made(*args: Any, **options: Any) -> Any:
        result = before(*args, **options)
        act()
        return result

    monkeypatch.setattr(module, name, made)


def due(user: User) -> Conversation:
    conversation = session(user)
    DeadLetter.objects.create(user=user, conversation=conversation, from_seq=1, to_seq=2, error="unusable")
    remembered(user, FACT, conversation=conversation, origin=EpisodeOrigin.EXTRACTIVE)
    Conversation.objects.update(last_active_at=timezone.now() - timedelta(minutes=9))
    MemoryOwner.objects.get_or_create(user=user)
    ask_for_retry(DeadLetter.objects.all())
    return conversation


JOBS: dict[str, tuple[Any, str, Callable[[], Any]]] = {
    "consolidation": (consolidation, "ask", lambda: consolidation.consolidate_due_sessions()),
    "indexing": (indexing, "embedded", lambda: indexing.index_due_sessions()),
    "folding": (summaries, "_made", lambda: fold_due_summaries(limit=9)),
    "a dead letter": (dead_letters, "ask", lambda: retry_due()),
}


@pytest.mark.parametrize("scope", list(Scope))
@pytest.mark.parametrize("job", JOBS)
def test_no_job_that_runs_at_that_moment_brings_anything_back(
    bob: User, model: ModelServer, settings: Any, monkeypatch: pytest.MonkeyPatch, job: str, scope: Scope
) -> None:
    settings.SUMMARY_TRIGGER_MESSAGES, settings.SUMMARY_KEEP_TURNS = 2, 1
    conversation = due(bob)
    TurnFactory(conversation=conversation, input="再说一次")
    told = {"title": "北斗", "summary": FACT, "keywords": [], "importance": 4, "entities": [], "relations": []}
    model.default = lambda _body: Answer(json.dumps(told, ensure_ascii=False))
    module, name, run = JOBS[job]
    ids = {Scope.SESSION: {"session_id": conversation.pk}, Scope.FLOW: {"flow_id": 1}, Scope.ALL: {}}[scope]
    erased: list[Report] = []
    meanwhile(monkeypatch, module, name, lambda: erased.append(erase(bob, scope=scope, **ids)) if not erased else None)
    run()
    assert erased, "the job had something to do"
    assert rows(bob) == [[]] * 6
    assert not DeadLetter.objects.exists()


def test_what_is_to_be_remembered_of_a_session_that_is_erased_just_then_is_not(
    bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = Turn.objects.get(conversation=session(bob))
    meanwhile(monkeypatch, remembering, "prepared", lambda: erase(bob, scope=Scope.ALL))
    with pytest.raises(SessionNotFound):
        remember(bob, "口令是海盐", turn=turn)
    assert not Episode.objects.exists()


def test_a_job_waits_for_whoever_erases_and_holds_nothing_meanwhile(bob: User, model: ModelServer) -> None:
    """Or each could wait for the other, and the database would end one of them."""
    conversation = due(bob)
    told = {"title": "北斗", "summary": FACT, "keywords": [], "importance": 4, "entities": [], "relations": []}
    model.default = lambda _body: Answer(json.dumps(told, ensure_ascii=False))
    job = threading.Thread(target=_in_thread, args=(retry_due,))
    with transaction.atomic():
        assert Conversation.objects.select_for_update().get(pk=conversation.pk)
        job.start()
        eventually(_somebody_waits)
        assert Episode.objects.select_for_update(nowait=True).get()
        assert Unit.objects.select_for_update(nowait=True).get()
    job.join()
    assert Episode.objects.get().origin == EpisodeOrigin.EXTRACTED


def _in_thread(work: Callable[[], Any]) -> None:
    try:
        work()
    finally:
        connection.close()


def _somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return bool(cursor.fetchone()[0])
