"""M8: what leaves the window is folded into a summary, once, and nothing is lost on the way."""

from datetime import timedelta

import pytest
from django.utils import timezone

from memory import forgetting, summaries
from memory.manager import MemoryManager
from memory.models import Conversation, MemoryOwner, TokenUse, Turn, TurnStatus
from memory.summaries import fold_due_summaries
from tests.doubles import Answer, ModelServer
from tests.factories import ConversationFactory, TurnFactory, UserFactory

pytestmark = pytest.mark.django_db(transaction=True)
FACT = "北斗项目五月三日上线，由李娜负责，编号 AB-1203。"


def talked(turns: int, first: str = FACT, **turn: object) -> Conversation:
    """A session of so many ended turns, the first of which says something worth keeping."""
    conversation = ConversationFactory()
    for number in range(turns):
        TurnFactory(conversation=conversation, input=first if number == 0 else f"第{number}句闲聊", **turn)
    return conversation


def given(conversation: Conversation) -> tuple[str, list[str]]:
    """The summary and the messages that the next turn is given."""
    conversation.refresh_from_db()
    running = TurnFactory.build(conversation=conversation, user=conversation.user, seq=conversation.last_seq + 1)
    recalled = MemoryManager().inject_memory(conversation.user, conversation=conversation, turn=running)
    return recalled.summary, [message["content"] for message in recalled.messages]


def test_fifteen_turns_make_a_session_due_and_the_last_ten_stay_verbatim(model: ModelServer) -> None:
    early, due = talked(14), talked(15)
    model.enqueue(Answer("北斗五月三日上线，李娜负责（AB-1203）。"))
    assert fold_due_summaries(limit=10) == 1
    early.refresh_from_db()
    due.refresh_from_db()
    assert (early.summary, early.covers_seq) == ("", 0)
    assert (due.summary, due.covers_seq) == ("北斗五月三日上线，李娜负责（AB-1203）。", 10)
    summary, messages = given(due)
    assert "李娜" in summary
    assert messages[0] == "第5句闲聊"
    assert len(messages) == 20


def test_the_former_summary_and_the_leaving_turns_go_to_the_model_as_data(model: ModelServer) -> None:
    conversation = talked(15)
    Conversation.objects.update(summary="以前定下：预算十万。")
    model.enqueue(Answer("预算十万；北斗五月三日上线。"))
    fold_due_summaries(limit=10)
    system, user = model.chats[0].body["messages"]
    assert "预算" not in system["content"]
    assert user["content"].startswith("<<<data\n[历史对话摘要]\n以前定下：预算十万。")
    assert FACT in user["content"]
    assert "第5句闲聊" not in user["content"], "it stays in the window"
    conversation.refresh_from_db()
    assert conversation.summary == "预算十万；北斗五月三日上线。"
    assert TokenUse.objects.get(user=conversation.user, kind="summary").calls == 1


def test_a_fact_of_turn_one_is_known_at_turn_sixty_without_a_model() -> None:
    conversation = talked(60)
    while fold_due_summaries(limit=10):
        pass
    summary, messages = given(conversation)
    assert FACT in summary
    assert messages[-1] == "A60"


def test_a_second_fold_of_the_same_turns_changes_nothing(model: ModelServer) -> None:
    conversation = talked(15)
    model.enqueue(Answer("北斗五月三日上线。"))
    fold_due_summaries(limit=10)
    before = Conversation.objects.values().get(pk=conversation.pk)
    assert fold_due_summaries(limit=10) == 0
    assert Conversation.objects.values().get(pk=conversation.pk) == before
    assert len(model.chats) == 1


@pytest.mark.parametrize("answer", [Answer(""), Answer("   "), Answer("Beidou launches on 3 May."), Answer(status=401)])
def test_an_unusable_answer_changes_nothing_and_is_tried_again_later(model: ModelServer, answer: Answer) -> None:
    conversation = talked(15)
    Conversation.objects.update(summary="以前定下：预算十万。")
    model.default = lambda _body: answer
    assert fold_due_summaries(limit=10) == 0
    conversation.refresh_from_db()
    assert (conversation.summary, conversation.covers_seq, conversation.summary_failures) == (
        "以前定下：预算十万。",
        0,
        1,
    )
    assert conversation.summary_claimed_until
    assert conversation.summary_claimed_until > timezone.now()
    Conversation.objects.update(summary_claimed_until=timezone.now() - timedelta(seconds=1))
    model.default = lambda _body: Answer("预算十万；北斗五月三日上线。")
    assert fold_due_summaries(limit=10) == 1


def test_one_worker_folds_a_session_at_a_time() -> None:
    conversation = talked(15)
    Conversation.objects.update(summary_claimed_until=timezone.now() + timedelta(minutes=1))
    assert fold_due_summaries(limit=10) == 0
    conversation.refresh_from_db()
    assert conversation.covers_seq == 0


def test_what_was_erased_while_the_model_wrote_does_not_come_back(
    model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M10."""
    conversation = talked(15)
    MemoryOwner.objects.create(user=conversation.user)
    made = summaries._made

    def erased_meanwhile(*args: object) -> str | None:
        summary = made(*args)  # type: ignore[arg-type]
        forgetting.erase(conversation.user, scope=forgetting.Scope.ALL)
        return summary

    monkeypatch.setattr(summaries, "_made", erased_meanwhile)
    model.enqueue(Answer("北斗五月三日上线。"))
    assert fold_due_summaries(limit=10) == 0
    assert not Conversation.objects.exists()


def test_where_memory_is_off_nothing_is_folded_or_read() -> None:
    """M11."""
    of_session, of_turns, of_owner = talked(15), talked(15, memory_enabled=False), talked(15)
    Conversation.objects.filter(pk=of_session.pk).update(memory_enabled=False)
    MemoryOwner.objects.create(user=of_owner.user, memory_enabled=False)
    fold_due_summaries(limit=10)
    for conversation in (of_session, of_turns, of_owner):
        conversation.refresh_from_db()
        assert FACT not in conversation.summary


def test_a_turn_whose_memory_is_off_continues_from_its_window_without_the_summary() -> None:
    """M11."""
    conversation = talked(15)
    fold_due_summaries(limit=10)
    conversation.refresh_from_db()
    assert conversation.summary
    running = TurnFactory.build(conversation=conversation, user=conversation.user, seq=31, memory_enabled=False)
    for _from_redis in (False, True):
        recalled = MemoryManager().inject_memory(conversation.user, conversation=conversation, turn=running)
        assert recalled.summary == ""
        assert [message["content"] for message in recalled.messages][:2] == [FACT, "A1"]


def test_covered_turns_that_are_still_in_the_list_are_not_sent() -> None:
    conversation = talked(15)
    given(conversation)
    fold_due_summaries(limit=10)
    for _from_redis in (False, True):
        _summary, messages = given(conversation)
        assert len(messages) == 20
        assert FACT not in messages


def test_with_the_worker_away_every_uncovered_turn_is_still_sent() -> None:
    conversation = talked(100)
    for _from_redis in (False, True):
        summary, messages = given(conversation)
        assert summary == ""
        assert len(messages) == 200
        assert messages[0] == FACT


def test_a_long_backlog_is_folded_in_parts_that_the_model_can_read(model: ModelServer) -> None:
    conversation = talked(60, first=FACT + "很长" * 60_000)
    Turn.objects.filter(seq__gt=1).update(output="记下了。" * 200)
    rounds = 0
    model.enqueue(*[Answer("北斗五月三日上线。")] * 20)
    while fold_due_summaries(limit=10):
        rounds += 1
    conversation.refresh_from_db()
    assert conversation.covers_seq >= 60 * 2 - 30
    assert rounds > 1
    assert all(len(chat.body["messages"][1]["content"]) < 32_768 for chat in model.chats)


def test_failed_turns_are_passed_over_and_secrets_stay_out(model: ModelServer) -> None:
    """M6, L11."""
    conversation = talked(15, first="我的身份证是11010519491231002X，北斗五月三日上线。")
    TurnFactory(conversation=conversation, input="出错的一句", output="半", status=TurnStatus.FAILED)
    model.enqueue(Answer("身份证11010519491231002X，北斗五月三日上线。"))
    fold_due_summaries(limit=10)
    asked = model.chats[0].body["messages"][1]["content"]
    assert "11010519491231002X" not in asked
    assert "出错的一句" not in asked
    conversation.refresh_from_db()
    assert conversation.summary == "身份证[redacted id]，北斗五月三日上线。"


def test_sessions_of_many_people_are_folded_each_on_its_own(model: ModelServer) -> None:
    mine, theirs = talked(15, first="我的事：预算十万。"), talked(15, first="别人的事：工资。")
    assert UserFactory._meta.model.objects.count() == 2
    model.enqueue(Answer("预算十万。"), Answer("工资。"))
    assert fold_due_summaries(limit=10) == 2
    for chat, other in zip(model.chats, ("工资", "预算"), strict=True):
        assert other not in chat.body["messages"][1]["content"]
    assert {mine.user_id, theirs.user_id} == set(Conversation.objects.values_list("user_id", flat=True))
