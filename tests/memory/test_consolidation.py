"""L1, L12: conversations become episodes, each stretch once; nothing is lost and nothing is made up."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from memory import consolidation, forgetting
from memory.consolidation import consolidate_due_sessions
from memory.dead_letters import ask_for_retry, retry_due
from memory.models import (
    Conversation,
    DeadLetter,
    Entity,
    Episode,
    EpisodeOrigin,
    EpisodeStatus,
    MemoryOwner,
    Relation,
    TokenUse,
    Turn,
    TurnStatus,
    Unit,
)
from tests.doubles import Answer, ModelServer
from tests.factories import ConversationFactory, TurnFactory

pytestmark = pytest.mark.django_db(transaction=True)
SAID = ["北斗项目五月三日上线，由李娜负责。", "单号 AB-1203 的供应商交付延至十二月六日。"]
ACCOUNT: dict[str, Any] = {
    "title": "北斗上线",
    "summary": "北斗项目五月三日上线，李娜负责。AB-1203 延至十二月六日。",
    "keywords": ["北斗", "上线", "供应商"],
    "importance": 4,
    "entities": [{"name": "李娜", "type": "person"}, {"name": "北斗项目", "type": "project"}],
    "relations": [{"source": "李娜", "relation": "负责", "target": "北斗项目"}],
}


def rested(*words: str, **turn: Any) -> Conversation:
    """A session with these questions that nobody has touched for a while."""
    conversation = ConversationFactory()
    for said in words or SAID:
        TurnFactory(conversation=conversation, input=said, **turn)
    Conversation.objects.filter(pk=conversation.pk).update(last_active_at=timezone.now() - timedelta(minutes=5))
    conversation.refresh_from_db()
    return conversation


def answer(**changes: Any) -> Answer:
    return Answer(json.dumps(ACCOUNT | changes, ensure_ascii=False))


def due_again() -> None:
    Conversation.objects.update(consolidation_claimed_until=None)


def cursor(conversation: Conversation) -> int:
    conversation.refresh_from_db()
    return conversation.consolidated_seq


def test_a_rested_session_becomes_an_episode_with_its_turns_names_and_relations(model: ModelServer) -> None:
    conversation = rested()
    model.enqueue(answer())
    assert consolidate_due_sessions() == 1
    episode = Episode.objects.get()
    assert (episode.title, episode.summary, episode.importance) == ("北斗上线", ACCOUNT["summary"], 4)
    assert (episode.origin, episode.status, episode.pinned) == (EpisodeOrigin.EXTRACTED, EpisodeStatus.ACTIVE, False)
    assert list(episode.turns.order_by("seq")) == list(conversation.turns.order_by("seq"))
    assert (episode.from_seq, episode.to_seq) == (1, 4)
    assert set(Entity.objects.values_list("name", "kind")) == {("李娜", "person"), ("北斗项目", "project")}
    relation = Relation.objects.get()
    assert (relation.source.name, relation.relation, relation.target.name) == ("李娜", "负责", "北斗项目")
    assert Unit.objects.get(kind="episode").episode == episode
    assert cursor(conversation) == 4


def test_a_session_that_is_still_talked_in_waits_until_it_has_grown(model: ModelServer) -> None:
    conversation = rested()
    Conversation.objects.update(last_active_at=timezone.now())
    assert consolidate_due_sessions() == 0
    for number in range(6):
        TurnFactory(conversation=conversation, input=f"北斗第{number}周例会定下风险清单。")
    model.enqueue(answer())
    assert consolidate_due_sessions() == 1
    assert cursor(conversation) == 16


def test_a_running_turn_is_waited_for(model: ModelServer) -> None:
    conversation = rested()
    TurnFactory(conversation=conversation, input="还在写", output="", status=TurnStatus.RUNNING)
    model.enqueue(answer())
    consolidate_due_sessions()
    assert cursor(conversation) == 4
    due_again()
    consolidate_due_sessions()
    assert cursor(conversation) == 4


def test_small_talk_failed_turns_and_unimportant_things_store_nothing_and_are_passed_over(model: ModelServer) -> None:
    small, failed = rested("你好！", "谢谢"), rested(*SAID, status=TurnStatus.FAILED)
    consolidate_due_sessions()
    assert not model.chats
    unimportant = rested("今天天气不错，我们随便聊聊。")
    model.enqueue(answer(summary="聊了天气。", importance=1))
    consolidate_due_sessions()
    assert not Episode.objects.exists()
    assert (cursor(small), cursor(failed), cursor(unimportant)) == (4, 4, 2)


def test_only_marked_sessions_where_the_setting_says_so(model: ModelServer, settings: Any) -> None:
    settings.MEMORY_ONLY_IMPORTANT = True
    rested()
    marked = rested()
    Conversation.objects.filter(pk=marked.pk).update(important=True)
    model.enqueue(answer())
    assert consolidate_due_sessions() == 1
    assert Episode.objects.get().conversation == marked


def test_where_memory_is_off_nothing_is_read_later_either(model: ModelServer) -> None:
    """M11."""
    of_turns, of_session, of_owner = rested(*SAID, memory_enabled=False), rested(), rested()
    Conversation.objects.filter(pk=of_session.pk).update(memory_enabled=False)
    MemoryOwner.objects.create(user=of_owner.user, memory_enabled=False)
    consolidate_due_sessions()
    assert not model.chats
    assert not Episode.objects.exists()
    assert cursor(of_turns) == 4


def test_what_the_model_is_sent_is_fenced_redacted_and_without_recalled_text(model: ModelServer) -> None:
    conversation = rested("我的身份证是11010519491231002X，北斗五月上线。", "李娜负责什么？")
    conversation.turns.filter(seq=3).update(output="记忆里说李娜负责采购。", memory_used={"turns": [{"turn_id": "x"}]})
    model.enqueue(answer(summary="北斗五月上线。", entities=[], relations=[]))
    consolidate_due_sessions()
    system, user = model.chats[0].body["messages"]
    assert "北斗" not in system["content"]
    assert user["content"].startswith("<<<data\n")
    assert "[redacted id]" in user["content"]
    assert "采购" not in user["content"]


def test_what_only_the_assistant_said_is_no_fact(model: ModelServer) -> None:
    rested("谁适合负责北斗项目？要懂采购的。")
    Turn.objects.update(output="可以考虑王芳，她在华东公司。")
    names = [{"name": "王芳", "type": "person"}, {"name": "华东公司"}, {"name": "北斗项目", "type": "project"}]
    relations = [{"source": "王芳", "relation": "负责", "target": "北斗项目"}]
    model.enqueue(answer(summary="问谁适合负责北斗项目。", entities=names, relations=relations))
    consolidate_due_sessions()
    assert list(Entity.objects.values_list("name", flat=True)) == ["北斗项目"]
    assert not Relation.objects.exists()


@pytest.mark.parametrize(
    "text",
    [
        "```json\n{}\n```",
        "<think>先想想 {不是答案}</think>\n{}",
        "好的，这是结果：\n{}\n希望有帮助。",
        "{},",
        "[{}]",
    ],
)
def test_json_is_found_in_whatever_stands_around_it(model: ModelServer, text: str) -> None:
    rested()
    model.enqueue(Answer(text.replace("{}", json.dumps(ACCOUNT, ensure_ascii=False))))
    consolidate_due_sessions()
    assert Episode.objects.get().summary == ACCOUNT["summary"]
    assert len(model.chats) == 1


UNUSABLE = [
    Answer("抱歉，我做不到。"),
    Answer('{"title": "北斗'),
    Answer("{}"),
    Answer(json.dumps(ACCOUNT | {"summary": "Beidou launches on 3 May and 李娜 owns it for sure."})),
    Answer(json.dumps(ACCOUNT | {"summary": "北斗上线，单号 ZX-9999。"})),
    Answer(json.dumps(ACCOUNT), finish_reason="length"),
]


@pytest.mark.parametrize("unusable", UNUSABLE)
def test_an_unusable_answer_is_asked_for_once_more_with_its_fault(model: ModelServer, unusable: Answer) -> None:
    conversation = rested()
    model.enqueue(unusable, answer())
    consolidate_due_sessions()
    assert len(model.chats) == 2
    assert "could not be used" in model.chats[1].body["messages"][-1]["content"]
    assert Episode.objects.get().summary == ACCOUNT["summary"]
    assert cursor(conversation) == 4


@pytest.mark.parametrize("unusable", [UNUSABLE[0], Answer(""), Answer(status=401)])
def test_after_five_failures_there_is_a_dead_letter_and_an_extractive_episode(
    model: ModelServer, unusable: Answer
) -> None:
    """Nothing is lost in silence, and the session is never stuck."""
    conversation = rested()
    model.default = lambda _body: unusable
    for attempt in range(4):
        consolidate_due_sessions()
        conversation.refresh_from_db()
        assert conversation.consolidation_failures == attempt + 1
        assert conversation.consolidation_claimed_until
        assert conversation.consolidation_claimed_until > timezone.now(), "it waits"
        due_again()
    consolidate_due_sessions()
    episode, letter = Episode.objects.get(), DeadLetter.objects.get()
    assert episode.origin == EpisodeOrigin.EXTRACTIVE
    assert "李娜" in episode.summary
    assert (letter.from_seq, letter.to_seq, letter.user) == (1, 4, conversation.user)
    assert cursor(conversation) == 4


def test_a_dead_letter_is_read_again_when_somebody_asks(model: ModelServer) -> None:
    conversation = rested()
    Conversation.objects.update(consolidation_failures=4)
    model.default = lambda _body: Answer("抱歉。")
    consolidate_due_sessions()
    assert retry_due() == 0, "nobody has asked"
    ask_for_retry(DeadLetter.objects.all())
    assert retry_due() == 0
    assert DeadLetter.objects.get().attempts == 6
    model.default = lambda _body: answer()
    ask_for_retry(DeadLetter.objects.all())
    assert retry_due() == 1
    episode = Episode.objects.get()
    assert (episode.origin, episode.summary) == (EpisodeOrigin.EXTRACTED, ACCOUNT["summary"])
    assert Unit.objects.get(episode=episode).text.startswith("北斗上线")
    assert not DeadLetter.objects.exists()
    assert cursor(conversation) == 4


def test_without_a_model_the_episode_is_made_of_the_persons_own_sentences() -> None:
    rested()
    consolidate_due_sessions()
    episode = Episode.objects.get()
    assert episode.origin == EpisodeOrigin.EXTRACTIVE
    assert episode.summary == "\n".join(SAID)
    assert {"李娜", "AB-1203"} <= set(Entity.objects.values_list("name", flat=True))
    assert Relation.objects.exists()


def test_the_same_fact_twice_is_one_and_outlives_either_source(model: ModelServer) -> None:
    """L12: the second is kept as merged into the first, and takes its place when that is erased."""
    first, _second = rested(), rested()
    model.default = lambda _body: answer()
    consolidate_due_sessions()
    assert sorted(Episode.objects.values_list("status", flat=True)) == ["active", "active"], "two people"
    Episode.objects.all().delete()
    third = rested()
    Conversation.objects.filter(pk=third.pk).update(user=first.user)
    third.turns.update(user=first.user)
    Conversation.objects.update(consolidated_seq=0)
    MemoryOwner.objects.get_or_create(user=first.user)
    consolidate_due_sessions()
    mine = Episode.objects.of(first.user)
    assert sorted(mine.values_list("status", flat=True)) == ["active", "merged"]
    kept = mine.get(status="active")
    assert kept.conversation
    forgetting.erase(first.user, scope=forgetting.Scope.SESSION, session_id=kept.conversation.pk)
    heir = mine.get()
    assert heir.status == EpisodeStatus.ACTIVE
    assert heir.unit
    assert Entity.objects.of(first.user).count() == 2


def test_fifty_copies_of_one_fact_in_an_answer_are_one(model: ModelServer) -> None:
    rested()
    many = {name: value * 50 for name, value in ACCOUNT.items() if isinstance(value, list)}
    model.enqueue(answer(**many))
    consolidate_due_sessions()
    assert Episode.objects.get().keywords == ACCOUNT["keywords"]
    assert (Entity.objects.count(), Relation.objects.count()) == (2, 1)


def test_what_was_erased_while_the_model_wrote_does_not_come_back(
    model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M10."""
    conversation = rested()
    MemoryOwner.objects.create(user=conversation.user)
    made = consolidation._made

    def erased_meanwhile(*args: Any) -> Any:
        result = made(*args)
        forgetting.erase(conversation.user, scope=forgetting.Scope.ALL)
        return result

    monkeypatch.setattr(consolidation, "_made", erased_meanwhile)
    model.enqueue(answer())
    consolidate_due_sessions()
    assert not Episode.objects.exists()
    assert not Entity.objects.exists()
    assert not Unit.objects.exists()


def test_a_worker_that_dies_again_and_again_makes_each_episode_once(
    model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L1: killed before, while and after the model is called, and while the episode is stored, in turn."""
    sessions = [rested(*(f"{said} 第{number}批" for said in SAID)) for number in range(5)]
    model.default = lambda body: answer(summary=f"记下：{body['messages'][1]['content'].count('批')}批北斗{id(body)}")
    points = ["next_stretch", "ask", "prepared", "_is_unchanged", "index_episode", "_dead_letter"]
    for death in range(100):
        due_again()
        with monkeypatch.context() as patch:
            patch.setattr(consolidation, points[death % len(points)], _killed)
            try:
                consolidate_due_sessions(limit=1)
            except KeyboardInterrupt:
                continue
    due_again()
    while consolidate_due_sessions():
        pass
    for session in sessions:
        assert session.turns.count() == 2
        for turn in session.turns.all():
            assert turn.episodes.count() == 1
        assert cursor(session) == 4


def _killed(*_args: Any, **_options: Any) -> None:
    raise KeyboardInterrupt


def test_a_replaced_turn_takes_its_episode_along_and_the_stretch_is_read_again(model: ModelServer) -> None:
    """M6."""
    conversation = rested()
    model.enqueue(answer())
    consolidate_due_sessions()
    last = conversation.turns.last()
    assert last
    conversation.refresh_from_db()
    consolidation.redo(conversation, last.pk)
    assert conversation.consolidated_seq == 0
    assert not Episode.objects.exists()
    assert not Entity.objects.exists()


def test_tokens_of_jobs_are_counted_for_the_person_they_are_spent_on(model: ModelServer) -> None:
    conversation = rested()
    model.enqueue(answer())
    consolidate_due_sessions()
    used = TokenUse.objects.get()
    assert (used.user, used.kind, used.calls) == (conversation.user, "episode", 1)
    assert used.prompt_tokens > 0
    assert used.completion_tokens > 0
