"""Finding what was said: whose, by which words and meanings, and what is told when a store is away (L3, L4, L13)."""

import threading
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.db import connection, connections
from django.utils import timezone

from memory.models import Conversation, Turn, TurnStatus, Unit
from memory.retrieval import bm25, keyword, search, storing
from memory.retrieval.keyword import Unstored
from memory.retrieval.lanes import Busy, Lanes
from memory.retrieval.pending import pending
from memory.retrieval.scope import Scope
from memory.retrieval.search import Query
from memory.retrieval.tokens import tokens
from tests.factories import TurnFactory
from tests.memory.retrieval.conftest import PATIENCE, found, index, questions, said
from tests.memory.retrieval.embedders import SubjectEmbedder
from tests.waiting import eventually

pytestmark = pytest.mark.django_db(transaction=True)

LAUNCH = ("北斗项目什么时候上线？", "五月三日。")
CODE = ("工单 AB-1203 是谁的？", "是李雷的。")
NAME = ("王欢负责什么？", "她负责采购。")


@pytest.fixture(params=["indexed", "pending"])
def settle(request: pytest.FixtureRequest) -> Callable[[], None]:
    """What was said is indexed, or not yet: search finds the same (L13)."""
    return index if request.param == "indexed" else lambda: None


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("北斗项目的上线时间", LAUNCH[0]),
        ("AB-1203", CODE[0]),
        ("ab 1203 的情况", CODE[0]),
        ("王欢", NAME[0]),
        ("北斗項目什麼時候上線", LAUNCH[0]),
        ("what about the quarterly meetings", "When is the quarterly meeting?"),
    ],
)
def test_words_names_and_codes_are_found(bob: User, settle: Callable[[], None], asked: str, answer: str) -> None:
    """L4: a name of two characters, a code, Traditional characters, another form of an English word."""
    said(bob, LAUNCH)
    said(bob, CODE)
    said(bob, NAME)
    said(bob, ("When is the quarterly meeting?", "On the ninth."))
    settle()
    assert questions(bob, asked)[0] == answer


def test_nobody_finds_what_somebody_else_said(bob: User, carol: User, settle: Callable[[], None]) -> None:
    said(bob, LAUNCH)
    said(carol, NAME)
    settle()
    assert questions(carol, "北斗项目什么时候上线") == []
    assert questions(bob, "王欢负责什么") == []
    assert questions(bob, "北斗项目什么时候上线") == [LAUNCH[0]]


def test_nobody_finds_by_meaning_what_somebody_else_said(bob: User, carol: User, embedder: SubjectEmbedder) -> None:
    said(bob, LAUNCH)
    index()
    assert found(carol, "发布").hits == []
    assert questions(bob, "发布") == [LAUNCH[0]]


def test_somebody_who_is_not_logged_in_finds_nothing(bob: User) -> None:
    said(bob, LAUNCH)
    index()
    assert search.search(AnonymousUser(), Query("北斗项目", deadline=PATIENCE)).hits == []


def test_a_hit_tells_where_it_is_from(bob: User, settle: Callable[[], None]) -> None:
    session = said(bob, LAUNCH, flow_id=7, flow_name="周报", title="北斗")
    settle()
    turn = session.turns.get()
    hit = found(bob, "北斗项目上线").hits[0]
    assert (hit.kind, hit.id, hit.turn_ids, hit.session_id) == ("turn", turn.pk, [turn.pk], session.pk)
    assert (hit.title, hit.source, hit.flow_id, hit.occurred_at) == ("北斗", "周报", 7, turn.started_at)
    assert (hit.question, hit.answer) == LAUNCH
    assert 0 < hit.score <= 1
    assert hit.legs["keyword"]


def test_one_flow_alone_is_searched_when_its_memory_stays_in_it(bob: User, settle: Callable[[], None]) -> None:
    """M2: `memory_scope: flow`."""
    said(bob, LAUNCH, flow_id=1)
    said(bob, ("北斗项目上线要准备什么？", "清单。"), flow_id=2)
    settle()
    assert questions(bob, "北斗项目上线", flow_id=2) == ["北斗项目上线要准备什么？"]
    assert len(questions(bob, "北斗项目上线")) == 2


def test_the_current_session_is_left_out_before_anything_is_ranked(bob: User, settle: Callable[[], None]) -> None:
    """L4: however well its own turns match, they take no place of another's."""
    current = said(bob, *[(f"北斗项目上线 {number}", "北斗项目上线") for number in range(5)])
    said(bob, LAUNCH)
    settle()
    assert questions(bob, "北斗项目上线", except_session=current.pk, limit=1) == [LAUNCH[0]]


@pytest.mark.parametrize(
    "fields",
    [
        {"status": TurnStatus.FAILED},
        {"status": TurnStatus.SUPERSEDED},
        {"status": TurnStatus.RUNNING},
        {"output": ""},
        {"memory_enabled": False},
    ],
    ids=str,
)
def test_what_is_not_remembered_is_never_found(bob: User, settle: Callable[[], None], fields: dict[str, Any]) -> None:
    """M6, M11."""
    session = said(bob, NAME)
    TurnFactory(**{"conversation": session, "input": LAUNCH[0], "output": LAUNCH[1]} | fields)
    settle()
    assert questions(bob, "北斗项目什么时候上线") == []


def test_stored_and_pending_turns_are_ranked_as_one(bob: User) -> None:
    """L13: what was just said beats what was said before, when it matches better."""
    said(bob, ("北斗的预算", "一百万。"))
    index()
    said(bob, ("北斗项目上线时间是什么时候", "五月三日。"))
    assert questions(bob, "北斗项目上线时间")[0] == "北斗项目上线时间是什么时候"


def test_the_database_counts_as_bm25_does(bob: User, carol: User) -> None:
    """One rule in two languages: `bm25` says it, SQL follows, where the postings are. Others' units change nothing."""
    texts = ["北斗 上线 上线", "北斗 预算", "天气", "北斗 上线 预算 采购"]
    said(bob, *[(text, "好") for text in texts[:2]])
    index()
    said(bob, *[(text, "好") for text in texts[2:]])
    said(carol, *[(f"北斗 {number}", "好") for number in range(9)])
    sessions = list(Conversation.objects.visible_to(bob).values_list("pk", flat=True))
    drafts = pending(Scope(bob), sessions)
    unstored = [Unstored(-number, draft.counts) for number, draft in enumerate(drafts, start=1)]
    asked = tokens("北斗上线")
    matches = keyword.best(Scope(bob), asked, unstored=unstored, limit=10)
    counted = [Counter(storing.counted(unit)[1]) for unit in Unit.objects.filter(user=bob)]
    counted += [Counter(draft.counts) for draft in drafts]
    average = sum(counts.total() for counts in counted) / len(counted)
    holding = {token: sum(token in counts for counts in counted) for token in asked}
    expected = [
        sum(
            bm25.idf(len(counted), holding[token]) * bm25.weight(counts[token], length=counts.total(), average=average)
            for token in asked
            if counts[token]
        )
        for counts in counted
    ]
    assert matches.units == 4
    assert matches.frequencies == {token: number for token, number in holding.items() if number}
    assert sorted(matches.scores.values()) == pytest.approx(sorted(score for score in expected if score))


def test_secrets_are_found_nowhere(bob: User, settle: Callable[[], None]) -> None:
    """L11: the transcript keeps them as typed, what is found is redacted."""
    key, person = "sk-live-4f9a8b7c6d5e4f3a2b1c", "11010519491231002X"
    said(bob, (f"北斗的密钥是 {key}，证件号 {person}", "记下了。"), title=f"北斗的密钥 {key}")
    settle()
    hit = found(bob, "北斗的密钥").hits[0]
    assert not [text for text in (hit.text, hit.quote, hit.title) for secret in (key, person) if secret in text]


def test_a_meaning_is_found_without_a_common_word(bob: User, embedder: SubjectEmbedder) -> None:
    said(bob, ("下个月哪天放假", "二十号。"))
    said(bob, CODE)
    index()
    hit = found(bob, "vacation").hits[0]
    assert hit.question == "下个月哪天放假"
    assert hit.legs["vector"] == pytest.approx(1, abs=0.02)
    assert hit.legs["keyword"] is None


@pytest.mark.parametrize("kind", ["fails", "late", "refused"])
def test_words_are_searched_alone_when_the_embedder_gives_nothing(
    bob: User, embedder: SubjectEmbedder, use: Callable[[Any], None], kind: str
) -> None:
    """L3: and the answer says so."""
    said(bob, LAUNCH)
    index()
    deadline = PATIENCE
    if kind == "fails":
        embedder.fails = True
    elif kind == "late":
        embedder.hold, deadline = threading.Event(), 2.0
    else:
        use(SubjectEmbedder(dimension=4))
    answer = search.search(bob, Query("北斗项目上线", deadline=deadline))
    assert answer.missing == ("vectors",)
    assert [hit.question for hit in answer.hits] == [LAUNCH[0]]


def test_an_embedder_that_fails_is_left_alone_for_a_while(bob: User, embedder: SubjectEmbedder) -> None:
    said(bob, LAUNCH)
    index()
    embedder.fails = True
    for _ in range(2):
        found(bob, "北斗")
    asked = len(embedder.seen)
    embedder.fails = False
    assert found(bob, "北斗").missing == ("vectors",)
    assert len(embedder.seen) == asked
    eventually(lambda: found(bob, "北斗").missing == ())


def test_a_locked_table_costs_the_hits_and_nothing_else(bob: User, settle: Callable[[], None]) -> None:
    """L3: the call returns by its deadline, empty, and says what is missing."""
    said(bob, LAUNCH)
    settle()
    locked, done = threading.Event(), threading.Event()

    def lock() -> None:
        with connection.cursor() as cursor:
            cursor.execute("BEGIN; LOCK TABLE memory_unit, memory_turn IN ACCESS EXCLUSIVE MODE")
            locked.set()
            done.wait(60)
            cursor.execute("ROLLBACK")
        connections.close_all()

    holder = threading.Thread(target=lock)
    holder.start()
    try:
        assert locked.wait(20)
        answer = search.search(bob, Query("北斗", deadline=0.3))
        assert (answer.hits, answer.missing) == ([], ("search",))
    finally:
        done.set()
        holder.join()
    eventually(lambda: questions_or_none(bob) == [LAUNCH[0]])


def questions_or_none(user: User) -> list[str] | None:
    answer = found(user, "北斗")
    return None if answer.missing else [hit.question for hit in answer.hits]


def test_a_dead_database_is_left_alone_and_used_again_when_it_is_back(
    bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L3: the breaker keeps searches from waiting for it one by one."""
    said(bob, LAUNCH)
    index()
    with monkeypatch.context() as away:
        tried = []

        def refuse(*_: Any, **__: Any) -> None:
            tried.append(1)
            from django.db import OperationalError

            raise OperationalError("connection refused")

        away.setattr(search, "look_up", refuse)
        assert [found(bob, "北斗").missing for _ in range(4)] == [("search",)] * 4
        assert len(tried) == 2
    eventually(lambda: questions_or_none(bob) == [LAUNCH[0]])


def test_too_many_searches_at_once_are_told_so(bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def start(self, work: Any) -> None:
            raise Busy

    said(bob, LAUNCH)
    monkeypatch.setattr(search, "_searches", Full)
    assert found(bob, "北斗").missing == ("busy",)


def test_lanes_take_no_more_than_they_have_room_for() -> None:
    lanes, gate = Lanes(1, name="test"), threading.Event()
    started = []
    with pytest.raises(Busy):  # noqa: PT012  # where it stops is what is tested
        for _ in range(100):
            started.append(lanes.start(lambda: gate.wait(20)))
    gate.set()
    assert [future.result(20) for future in started] == [True] * len(started)
    assert lanes.start(lambda: 7).result(20) == 7


def test_a_long_query_is_asked_by_its_beginning_and_its_end(bob: User) -> None:
    said(bob, LAUNCH)
    said(bob, NAME)
    index()
    filler = "甲乙丙丁" * 25_000
    assert set(questions(bob, f"北斗项目上线 {filler} 王欢")) == {LAUNCH[0], NAME[0]}


@pytest.mark.parametrize("asked", ["", "   ", "？！", "\x00", "%' OR 1=1 --", "\ud800"])
def test_any_text_may_be_asked(bob: User, asked: str) -> None:
    said(bob, LAUNCH)
    index()
    assert found(bob, asked).missing == ()


def test_the_oldest_of_very_many_pending_turns_wait_for_indexing(bob: User) -> None:
    """What is read without an index is bounded."""
    old = said(bob, LAUNCH)
    Turn.objects.filter(conversation=old).update(started_at=timezone.now() - timedelta(days=9))
    said(bob, *[(f"闲聊 {number}", "好。") for number in range(200)])
    assert questions(bob, "北斗项目上线") == []
    index()
    assert questions(bob, "北斗项目上线") == [LAUNCH[0]]


def test_a_turn_that_is_indexed_while_it_is_read_is_found_once(bob: User) -> None:
    said(bob, LAUNCH)
    index()
    Conversation.objects.update(indexed_seq=0)  # as a search sees it that began before
    assert Unit.objects.count() == 1
    assert questions(bob, "北斗项目上线") == [LAUNCH[0]]
