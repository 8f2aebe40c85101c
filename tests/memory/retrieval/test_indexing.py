"""Making turns searchable: everything once, nothing that was erased, and vectors later when the embedder is away."""

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory import forgetting, indexing, reindexing
from memory.forgetting import Scope
from memory.models import Conversation, MemoryOwner, Posting, Turn, TurnStatus, Unit, UnitVector, VectorModel
from memory.models.conversation import SETTLING
from memory.retrieval import embedding, storing
from memory.retrieval.tokens import VERSION
from memory.tasks import index_turns, renew_index
from memory.turns import Outcome, TurnRequest, end_turn, open_turn
from tests.factories import TurnFactory
from tests.memory.retrieval.conftest import found, index, questions, said
from tests.memory.retrieval.embedders import SubjectEmbedder
from tests.memory.test_forgetting import traces

pytestmark = pytest.mark.django_db(transaction=True)

LAUNCH = ("北斗项目什么时候上线？", "五月三日。")
HOLIDAY = ("下个月哪天放假", "二十号。")
CANARY = "qzcanarz"
"""One token, whatever the rules."""


def counts() -> tuple[int, int, int]:
    """Units, units with postings, vectors."""
    return Unit.objects.count(), Posting.objects.values("unit").distinct().count(), UnitVector.objects.count()


def test_a_turn_becomes_a_unit_with_the_turn_before_it_as_context(bob: User, embedder: SubjectEmbedder) -> None:
    """L4."""
    session = said(bob, LAUNCH, ("那谁负责？", "王欢。"))
    index()
    first, second = Unit.objects.order_by("seq")
    assert (first.turn.input, first.text, first.context) == (LAUNCH[0], "\n\n".join(LAUNCH), "")
    assert (second.context, second.text) == ("\n\n".join(LAUNCH), "那谁负责？\n\n王欢。")
    assert (second.user, second.conversation, second.flow_id, second.tokens_version) == (bob, session, 1, VERSION)
    assert embedder.seen == [first.text, f"{first.text}\n\n{second.text}"]
    assert counts() == (2, 2, 2)
    session.refresh_from_db()
    assert (session.indexed_seq, session.index_claimed_until) == (4, None)


def test_what_was_indexed_is_not_indexed_again(bob: User, embedder: SubjectEmbedder) -> None:
    session = said(bob, LAUNCH)
    index()
    TurnFactory(conversation=session, input="那谁负责？", output="王欢。")
    index()
    index()
    assert counts() == (2, 2, 2)
    assert len(embedder.seen) == 2
    assert Unit.objects.latest("seq").context == "\n\n".join(LAUNCH)


@pytest.mark.parametrize(
    "fields",
    [{"status": TurnStatus.FAILED}, {"status": TurnStatus.SUPERSEDED}, {"output": ""}, {"memory_enabled": False}],
    ids=str,
)
def test_what_is_not_remembered_is_passed_by(bob: User, embedder: SubjectEmbedder, fields: dict[str, Any]) -> None:
    """M6, M11: neither as a unit nor as the context of the next, and switching memory on later changes nothing."""
    session = said(bob)
    TurnFactory(**{"conversation": session, "input": CANARY, "output": CANARY} | fields)
    TurnFactory(conversation=session, input=LAUNCH[0], output=LAUNCH[1])
    index()
    Conversation.objects.update(memory_enabled=True)
    index()
    assert counts() == (1, 1, 1)
    assert set(traces(CANARY)) == {"memory_turn"}
    assert not [text for text in embedder.seen if CANARY in text]
    session.refresh_from_db()
    assert session.indexed_seq == session.last_seq


def test_a_running_turn_is_waited_for(bob: User) -> None:
    opened = open_turn(bob, TurnRequest(flow_id=1, flow_name="通用助手", flow_version=1, input=LAUNCH[0]))
    assert indexing.index_due_sessions() == 0
    end_turn(opened.turn, Outcome(TurnStatus.COMPLETE, LAUNCH[1]))
    index()
    assert counts()[0] == 1


def test_an_interrupted_turn_is_waited_for_until_its_text_is_settled(bob: User) -> None:
    session = said(bob)
    TurnFactory(conversation=session, input=LAUNCH[0], output="五月", status=TurnStatus.INTERRUPTED)
    index()
    assert counts()[0] == 0
    assert questions(bob, "北斗项目上线") == [LAUNCH[0]], "it is found all the same"
    Turn.objects.update(output="五月三日", finished_at=timezone.now() - SETTLING)
    index()
    assert Unit.objects.get().text.endswith("五月三日")


def test_secrets_are_in_no_unit_posting_or_vector(bob: User, embedder: SubjectEmbedder) -> None:
    """L11: of the turn, and of the context that the next one carries."""
    key, person, card = "sk-live-4f9a8b7c6d5e4f3a2b1c", "11010519491231002X", "4111 1111 1111 1111"
    said(bob, (f"密钥 {key}，证件 {person}，卡号 {card}", f"记下了：{key}"), LAUNCH)
    index()
    assert counts()[0] == 2
    for secret in (key, person, card, "4f9a8b7c6d5e4f3a2b1c", person.casefold(), card.replace(" ", "")):
        assert not [table for table in traces(secret) if table != "memory_turn"]
        assert not [text for text in embedder.seen if secret in text]


def test_a_secret_at_the_cut_of_a_long_turn_is_not_halved(bob: User) -> None:
    key = "sk-live-4f9a8b7c6d5e4f3a2b1c4f9a8b7c6d5e4f3a2b1c"
    said(bob, ("长" * 15_990 + f" {key}", "好。"))
    index()
    assert "sk-live" not in Unit.objects.get().text


@pytest.mark.parametrize("scope", list(Scope))
def test_erasing_takes_units_postings_and_vectors_along(
    bob: User, carol: User, embedder: SubjectEmbedder, scope: Scope
) -> None:
    """M10, L15: and the report counts the vectors."""
    session = said(bob, (f"{CANARY} 一", "好。"), (f"{CANARY} 二", "好。"), title=CANARY)
    said(carol, LAUNCH)
    index()
    assert {"memory_unit", "memory_posting"} <= set(traces(CANARY))
    ids = {Scope.SESSION: {"session_id": session.pk}, Scope.FLOW: {"flow_id": 1}, Scope.ALL: {}}[scope]
    report = forgetting.erase(bob, scope=scope, **ids)
    assert report.as_dict()["removed"]["vectors"] == 2
    assert traces(CANARY) == []
    assert counts() == (1, 1, 1)


def test_erasing_takes_as_many_statements_for_many_units_as_for_few(bob: User, embedder: SubjectEmbedder) -> None:
    """Deleting one by one took others minutes."""
    statements = []
    for turns in (2, 60):
        session = said(bob, *[(f"问题 {number}", "好。") for number in range(turns)])
        index()
        with CaptureQueriesContext(
            connection,
        ) as captured:
            forgetting.erase(bob, scope=Scope.SESSION, session_id=session.pk)
        statements.append(len(captured))
    assert statements[0] == statements[1]
    assert counts() == (0, 0, 0)


def test_a_person_who_goes_leaves_no_row(bob: User, carol: User, embedder: SubjectEmbedder) -> None:
    said(bob, LAUNCH)
    said(carol, LAUNCH)
    index()
    bob.delete()
    assert counts() == (1, 1, 1)
    assert not Posting.objects.exclude(user=carol).exists()


def test_a_turn_that_was_replaced_is_found_no_more(bob: User, embedder: SubjectEmbedder) -> None:
    """M6: from the moment on in which its successor is opened."""
    session = said(bob, LAUNCH)
    index()
    request = TurnRequest(
        flow_id=1, flow_name="", flow_version=1, input="改了", session_id=session.pk, replaces=session.turns.get().pk
    )
    open_turn(bob, request)
    assert questions(bob, "北斗项目上线") == []
    assert counts() == (0, 0, 0)


class Overtaken:
    """An embedder during whose work something else happens."""

    model, dimension = "slow", 8

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        self.meanwhile, self.plain = meanwhile, SubjectEmbedder()

    def embed(self, texts: list[str], *, timeout: float) -> Any:
        self.meanwhile()
        return self.plain.embed(texts, timeout=timeout)


@pytest.mark.parametrize("scope", list(Scope))
def test_what_is_erased_while_it_is_indexed_does_not_come_back(
    bob: User, use: Callable[[Any], None], scope: Scope
) -> None:
    """M10."""
    session = said(bob, (CANARY, "好。"))
    ids = {Scope.SESSION: {"session_id": session.pk}, Scope.FLOW: {"flow_id": 1}, Scope.ALL: {}}[scope]
    use(Overtaken(lambda: forgetting.erase(bob, scope=scope, **ids)))
    index_turns()
    assert counts() == (0, 0, 0)
    assert traces(CANARY) == []


def test_a_turn_that_is_replaced_while_it_is_indexed_does_not_come_back(bob: User, use: Callable[[Any], None]) -> None:
    session = said(bob, ("第一问", "好。"), (CANARY, "好。"))
    request = TurnRequest(
        flow_id=1,
        flow_name="",
        flow_version=1,
        input="改了",
        session_id=session.pk,
        replaces=session.turns.get(input=CANARY).pk,
    )
    use(Overtaken(lambda: open_turn(bob, request) if session.turns.count() == 2 else None))
    index()
    assert [unit.text for unit in Unit.objects.all()] == ["第一问\n\n好。"]
    use(None)
    assert questions(bob, CANARY) == []


def test_an_owner_whose_epoch_rose_gets_nothing_of_the_old_one(bob: User, use: Callable[[Any], None]) -> None:
    """A job that began before an erasure stores nothing, even where its session is still there."""
    said(bob, LAUNCH)
    MemoryOwner.objects.create(user=bob)
    seen = []

    def raise_once() -> None:
        seen.append(counts()[0])
        if len(seen) == 1:
            MemoryOwner.objects.filter(user=bob).update(epoch=1)

    use(Overtaken(raise_once))
    index()
    assert seen == [0, 0], "the second round began in the new epoch"
    assert counts() == (1, 1, 1)


def test_a_worker_that_is_killed_in_between_loses_and_doubles_nothing(
    bob: User, embedder: SubjectEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(bob, LAUNCH, HOLIDAY)
    with monkeypatch.context() as killed:

        def die(*_: Any, **__: Any) -> None:
            raise SystemExit

        killed.setattr(storing.vector, "store", die)
        with pytest.raises(SystemExit):
            index()
    assert counts() == (0, 0, 0)
    assert indexing.index_due_sessions() == 0, "its claim still holds"
    Conversation.objects.update(index_claimed_until=timezone.now())
    index()
    index()
    assert counts() == (2, 2, 2)


def test_a_claimed_session_is_nobody_elses(bob: User) -> None:
    said(bob, LAUNCH)
    assert len(indexing._claimed(10)) == 1
    assert indexing._claimed(10) == []


def test_an_embedder_that_is_away_delays_the_vectors_alone(bob: User, embedder: SubjectEmbedder) -> None:
    """Words are found at once, meanings when it is back."""
    embedder.fails = True
    said(bob, HOLIDAY)
    index_turns()
    assert counts() == (1, 1, 0)
    assert [hit.question for hit in found(bob, "放假").hits] == [HOLIDAY[0]]
    embedder.fails = False
    embedding.breaker.succeeded()
    index_turns()
    assert counts() == (1, 1, 1)
    assert not Unit.objects.filter(vector_due=True).exists()


def test_another_model_is_made_ready_while_the_old_one_answers(
    bob: User, embedder: SubjectEmbedder, use: Callable[[Any], None]
) -> None:
    """L14."""
    said(bob, HOLIDAY, LAUNCH)
    index()
    new = SubjectEmbedder("subjects-2", dimension=16)
    use(new)
    output = StringIO()
    call_command("reembed", stdout=output)
    assert "vectors: 2 of 2" in output.getvalue()
    assert counts() == (2, 2, 4)
    for model in (embedder, new):
        use(model)
        assert questions(bob, "vacation")[0] == HOLIDAY[0]
    use(new)
    call_command("reembed", "--drop-others", stdout=output)
    assert counts() == (2, 2, 2)
    assert VectorModel.objects.get().name == "subjects-2"
    assert questions(bob, "vacation")[0] == HOLIDAY[0]


def test_beat_makes_the_vectors_of_a_model_that_was_configured_later(bob: User, use: Callable[[Any], None]) -> None:
    said(bob, HOLIDAY)
    index()
    assert counts() == (1, 1, 0)
    use(SubjectEmbedder())
    renew_index()
    assert counts() == (1, 1, 1)


def test_vectors_of_another_length_are_refused(
    bob: User, embedder: SubjectEmbedder, use: Callable[[Any], None]
) -> None:
    """L14: with a sentence that says what to do."""
    said(bob, HOLIDAY)
    index()
    UnitVector.objects.filter(user=bob).delete()
    use(SubjectEmbedder(dimension=4))
    with pytest.raises(CommandError, match="have 8 numbers, and this one has 4"):
        call_command("reembed", stdout=StringIO())


def test_units_with_tokens_by_former_rules_are_counted_anew(bob: User) -> None:
    """L14."""
    said(bob, LAUNCH)
    index()
    Unit.objects.update(tokens_version=VERSION - 1, length=1)
    Posting.objects.filter(user=bob).exclude(token="上线").delete()
    renew_index()
    unit = Unit.objects.get()
    assert (unit.tokens_version, unit.length > 1) == (VERSION, True)
    assert questions(bob, "北斗") == [LAUNCH[0]]


def test_a_unit_that_is_erased_while_its_vector_is_made_gets_none(bob: User, use: Callable[[Any], None]) -> None:
    session = said(bob, HOLIDAY)
    index()
    use(Overtaken(lambda: forgetting.erase(bob, scope=Scope.SESSION, session_id=session.pk)))
    assert reindexing.embed_missing(seconds=30) == 1
    assert counts() == (0, 0, 0)


def test_many_turns_of_one_session_are_indexed_in_several_rounds(bob: User) -> None:
    said(bob, *[(f"问题 {number}", "好。") for number in range(indexing.TURNS + 5)])
    index_turns()
    index_turns()
    assert counts()[0] == indexing.TURNS + 5
    assert indexing.lag() == 0
