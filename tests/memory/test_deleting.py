"""L9, M6: what a person deletes is gone from recall at once, can be taken back for seconds, and never comes back."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from memory import deleting, indexing
from memory.consolidation import consolidate_due_sessions, redo
from memory.dead_letters import ask_for_retry, retry_due
from memory.deleting import delete, finish, finish_due, take_back
from memory.errors import EpisodeNotFound
from memory.forgetting import Scope, erase
from memory.indexing import index_due_sessions
from memory.manager import MemoryManager
from memory.models import (
    Conversation,
    DeadLetter,
    Entity,
    Episode,
    EpisodeStatus,
    Posting,
    Relation,
    Tombstone,
    Turn,
    Unit,
)
from memory.reindexing import embed_missing, retokenise
from memory.remembering import remember
from tests.factories import ConversationFactory, TurnFactory, UserFactory

pytestmark = pytest.mark.django_db(transaction=True)
SAID = "北斗项目五月三日上线，由李娜负责。"


def talked(user: User, *words: str) -> Conversation:
    """A session with these questions, indexed and consolidated without a model."""
    conversation: Conversation = ConversationFactory(user=user)
    for line in words:
        TurnFactory(conversation=conversation, input=line, output="记下了。")
    rest(conversation)
    index_due_sessions()
    consolidate_due_sessions()
    return conversation


def rest(conversation: Conversation) -> None:
    Conversation.objects.filter(pk=conversation.pk).update(last_active_at=timezone.now() - timedelta(minutes=5))


def recalled(user: User, words: str = "北斗项目谁负责上线？") -> str:
    """Everything that memory tells about a question, as one text."""
    context = MemoryManager().retrieve_memory(user, words)
    return str([(hit.text, hit.quote) for hit in context.hits]) + str(context.related_entities)


def run_every_job() -> None:
    """What could bring a memory back."""
    Conversation.objects.update(consolidation_claimed_until=None, index_claimed_until=None)
    index_due_sessions()
    consolidate_due_sessions()
    ask_for_retry(DeadLetter.objects.all())
    retry_due()
    embed_missing(seconds=5)
    retokenise(seconds=5)


def long_after() -> None:
    Episode.objects.filter(deleting_until__isnull=False).update(deleting_until=timezone.now() - timedelta(seconds=1))


def test_what_is_deleted_is_recalled_no_more_and_its_transcript_stays() -> None:
    bob = UserFactory()
    conversation = talked(bob, SAID)
    assert "李娜" in recalled(bob)
    delete(bob, Episode.objects.get().pk)
    assert "李娜" not in recalled(bob)
    assert not Unit.objects.exists()
    assert not Posting.objects.exists()
    assert MemoryManager().get_conversation_history(bob, conversation.pk)[0]["content"] == SAID


def test_it_can_be_taken_back_whole() -> None:
    bob = UserFactory()
    talked(bob, SAID, "下一件事：会议室的投影仪坏了。")
    episode = Episode.objects.get()
    before = (recalled(bob), sorted(Posting.objects.values_list("token", "tf")))
    delete(bob, episode.pk)
    take_back(bob, episode.pk)
    assert (recalled(bob), sorted(Posting.objects.values_list("token", "tf"))) == before
    assert not Tombstone.objects.exists()


def test_after_some_seconds_it_is_final() -> None:
    bob = UserFactory()
    talked(bob, SAID)
    episode = Episode.objects.get()
    delete(bob, episode.pk)
    long_after()
    with pytest.raises(EpisodeNotFound):
        take_back(bob, episode.pk)
    assert finish_due() == 1
    assert not Episode.objects.exists()
    assert not Entity.objects.exists()
    assert not Relation.objects.exists()
    assert Tombstone.objects.get().episode is None


def test_a_deletion_that_can_be_taken_back_is_not_made_final() -> None:
    bob = UserFactory()
    delete(bob, remember(bob, SAID).pk)
    assert (finish(bob), finish_due()) == (0, 0)
    assert Episode.objects.count() == 1


def test_what_other_memories_name_stays() -> None:
    bob = UserFactory()
    talked(bob, SAID)
    kept = remember(bob, "李娜爱喝咖啡。")
    delete(bob, Episode.objects.exclude(pk=kept.pk).get().pk)
    long_after()
    finish(bob)
    assert {entity.name for entity in Entity.objects.all()} == {entity.name for entity in kept.entities.all()}
    assert Entity.objects.filter(name="李娜").exists()
    assert "咖啡" in recalled(bob, "李娜喝什么？")


@pytest.mark.parametrize("final", [False, True])
def test_no_job_brings_it_back(final: bool) -> None:
    bob = UserFactory()
    conversation = talked(bob, SAID)
    DeadLetter.objects.create(user=bob, conversation=conversation, from_seq=1, to_seq=2, error="truncated")
    delete(bob, Episode.objects.get().pk)
    if final:
        long_after()
        finish(bob)
    Conversation.objects.update(indexed_seq=0, consolidated_seq=0)
    assert "李娜" not in recalled(bob)  # read from the transcript, as it is not indexed
    run_every_job()
    assert "李娜" not in recalled(bob)
    assert not Unit.objects.exists()
    assert Episode.objects.of(bob).count() == 0


def test_what_was_asked_to_be_remembered_is_not_extracted_from_its_turn_afterwards() -> None:
    bob = UserFactory()
    conversation = ConversationFactory(user=bob)
    turn = TurnFactory(conversation=conversation, input=f"记住：{SAID}")
    delete(bob, remember(bob, SAID, turn=turn).pk)
    rest(conversation)
    run_every_job()
    assert not Episode.objects.of(bob).exists()
    assert not Unit.objects.exists()


def test_a_turn_that_is_replaced_later_is_read_without_it() -> None:
    bob = UserFactory()
    conversation = talked(bob, SAID)
    delete(bob, Episode.objects.get().pk)
    conversation.refresh_from_db()
    redo(conversation, Turn.objects.get().pk)
    conversation.save()
    run_every_job()
    assert not Episode.objects.of(bob).exists()


def test_what_a_job_is_just_making_of_the_turn_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """The turn is deleted from memory while its vector is on the way."""
    bob = UserFactory()
    conversation = ConversationFactory(user=bob)
    turn = TurnFactory(conversation=conversation, input=SAID)
    episode = remember(bob, SAID, turn=turn)

    def embedded(*given: object, **options: object) -> None:
        delete(bob, episode.pk)

    monkeypatch.setattr(indexing, "embedded", embedded)
    index_due_sessions()
    assert not Unit.objects.exists()


def test_the_turn_behind_it_is_not_found_by_its_words_any_more() -> None:
    """A turn is searched along with the beginning of the one before it."""
    bob = UserFactory()
    conversation = ConversationFactory(user=bob)
    first = TurnFactory(conversation=conversation, input=SAID)
    TurnFactory(conversation=conversation, input="那验收呢？")
    index_due_sessions()
    delete(bob, remember(bob, SAID, turn=first).pk)
    unit = Unit.objects.get()
    assert (unit.context, unit.seq) == ("", 3)
    assert "李娜" not in set(Posting.objects.values_list("token", flat=True))


def test_answers_that_told_it_are_found_by_their_questions_alone() -> None:
    """Whatever was told in another conversation, and told on in a third."""
    bob = UserFactory()
    talked(bob, SAID)
    episode = Episode.objects.get()
    asked = TurnFactory(
        conversation=ConversationFactory(user=bob),
        input="发布由谁管？",
        output="由李娜管。",
        memory_used={"episodes": [{"episode_id": str(episode.pk)}]},
    )
    TurnFactory(
        conversation=ConversationFactory(user=bob),
        input="发布归谁？",
        output="您问过：李娜。",
        memory_used={"turns": [{"turn_id": str(asked.pk)}]},
    )
    index_due_sessions()
    assert "李娜" in recalled(bob, "发布由谁管？")
    delete(bob, episode.pk)
    told = recalled(bob, "发布由谁管？")
    assert "李娜" not in told
    assert "发布由谁管？" in told
    take_back(bob, episode.pk)
    assert "李娜" in recalled(bob, "发布由谁管？")


def test_what_says_the_same_goes_along_and_comes_back_along() -> None:
    bob = UserFactory()
    kept = remember(bob, SAID)
    merged = remember(bob, SAID)
    assert merged.status == EpisodeStatus.MERGED
    delete(bob, kept.pk)
    assert "李娜" not in recalled(bob)
    take_back(bob, kept.pk)
    assert set(Episode.objects.of(bob).values_list("pk", "status")) == {
        (kept.pk, "active"),
        (merged.pk, "merged"),
    }
    delete(bob, kept.pk)
    long_after()
    assert finish(bob) == 2
    assert not Episode.objects.exists()


def test_the_same_may_be_written_anew_and_wins_over_what_is_taken_back() -> None:
    bob = UserFactory()
    first = remember(bob, SAID)
    delete(bob, first.pk)
    second = remember(bob, SAID)
    assert second.status == EpisodeStatus.ACTIVE
    taken = take_back(bob, first.pk)
    assert (taken.status, taken.merged_into) == (EpisodeStatus.MERGED, second)


@pytest.mark.parametrize("act", [delete, take_back])
def test_nobody_deletes_or_takes_back_the_memory_of_another(act: Callable[..., object]) -> None:
    bob, carol = UserFactory(), UserFactory()
    episode = remember(bob, SAID)
    if act is take_back:
        delete(bob, episode.pk)
    with pytest.raises(EpisodeNotFound):
        act(carol, episode.pk)
    assert Episode.objects.of(bob).count() == (0 if act is take_back else 1)


def test_erasing_takes_what_is_being_deleted_along() -> None:
    bob = UserFactory()
    conversation = talked(bob, SAID)
    delete(bob, Episode.objects.get().pk)
    erase(bob, scope=Scope.SESSION, session_id=conversation.pk)
    assert not Episode.objects.exists()
    assert not Entity.objects.exists()
    assert not Tombstone.objects.exists()


def test_other_peoples_memory_is_untouched() -> None:
    bob, carol = UserFactory(), UserFactory()
    talked(carol, SAID)
    mine = talked(bob, SAID)
    delete(bob, Episode.objects.get(conversation=mine).pk)
    long_after()
    finish_due()
    assert "李娜" in recalled(carol)


def test_there_is_time_to_take_it_back() -> None:
    assert timedelta(seconds=5) <= deleting.UNDO <= timedelta(minutes=1)
