"""L2, L4: `retrieve_memory` gives episodes, entities, relations and turns, all of the caller alone."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from memory.consolidation import consolidate_due_sessions
from memory.indexing import index_due_sessions
from memory.manager import MemoryManager
from memory.models import Conversation, Episode, Turn
from memory.recall import MemoryContext
from memory.remembering import remember
from tests.factories import ConversationFactory, TurnFactory, UserFactory

pytestmark = pytest.mark.django_db(transaction=True)


def said(user: User, *words: str) -> Conversation:
    """A session with these questions, indexed and consolidated without a model."""
    conversation = ConversationFactory(user=user)
    for line in words:
        TurnFactory(conversation=conversation, input=line, output="好的。")
    Conversation.objects.filter(pk=conversation.pk).update(last_active_at=timezone.now() - timedelta(minutes=5))
    index_due_sessions()
    consolidate_due_sessions()
    return conversation


def about(user: User, words: str) -> MemoryContext:
    return MemoryManager().retrieve_memory(user, words)


def test_every_kind_is_filled() -> None:
    bob = UserFactory()
    conversation = said(bob, "北斗项目五月三日上线，由李娜负责。", "单号 AB-1203 的交付延至十二月六日。")
    context = about(bob, "李娜在负责什么？")
    (episode,) = context.related_episodes
    assert episode.id == Episode.objects.get().pk
    assert episode.turn_ids == [turn.pk for turn in conversation.turns.order_by("seq")]
    assert context.related_turns[0].id == conversation.turns.order_by("seq")[0].pk
    assert [entity["name"] for entity in context.related_entities] == ["李娜"]
    relations = {(r["source"], r["target"]) for r in context.related_relations}
    assert any("李娜" in ends for ends in relations)
    assert context.missing == ()


def test_a_turn_that_is_found_brings_its_episode() -> None:
    """The episode does not hold the words; the turn it was made from does."""
    bob = UserFactory()
    conversation = said(bob, "北斗项目五月三日上线，由李娜负责。", "顺便说一句，会议室的投影仪又坏了。")
    Episode.objects.update(title="上线", summary="定下了上线日期。")
    Episode.objects.get().unit.delete()
    context = about(bob, "投影仪")
    assert [turn.id for turn in context.related_turns] == [conversation.turns.order_by("seq")[1].pk]
    assert context.related_episodes == ()
    episode = Episode.objects.get()
    from memory.episodes.units import reindex_episode

    reindex_episode(episode)
    (brought,) = about(bob, "投影仪").related_episodes
    assert brought.id == episode.pk
    assert "投影仪" in brought.quote


def test_nobody_meets_the_memory_of_another() -> None:
    bob, carol = UserFactory(), UserFactory()
    said(bob, "项目 A 由李娜负责，五月三日上线。")
    said(carol, "项目 A 的预算是十万，由王芳管。")
    for person, stranger in ((bob, "王芳"), (carol, "李娜")):
        context = about(person, "项目 A 谁负责？")
        assert context.related_episodes
        assert stranger not in str(context)


def test_what_was_written_by_hand_is_found_too() -> None:
    bob = UserFactory()
    remember(bob, "客户代号一律写成青松。")
    (hit,) = about(bob, "客户代号").related_episodes
    assert (hit.turn_ids, hit.session_id, hit.text.splitlines()[0]) == ([], None, "客户代号一律写成青松。")


def test_add_episode_keeps_what_turns_say() -> None:
    bob = UserFactory()
    conversation = ConversationFactory(user=bob)
    turn = TurnFactory(conversation=conversation, input="北斗项目五月三日上线，由李娜负责。")
    episode = MemoryManager().add_episode(bob, conversation.pk, [turn])
    assert "李娜" in episode.summary
    assert list(episode.turns.all()) == [Turn.objects.get()]


def test_an_unrelated_question_brings_nothing() -> None:
    bob = UserFactory()
    said(bob, "北斗项目五月三日上线，由李娜负责。")
    context = about(bob, "How do I bake bread?")
    assert (context.related_episodes, context.related_turns, context.related_entities) == ((), (), ())
