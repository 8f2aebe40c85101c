"""What must hold once everything has come to rest."""

from collections import Counter
from collections.abc import Iterator

import orjson
from django_redis import get_redis_connection

from memory import window
from memory.models import Conversation, Turn, TurnStatus
from tests.chaos.crowd import Said

STATUS = {
    "turn.completed": TurnStatus.COMPLETE,
    "turn.stopped": TurnStatus.STOPPED,
    "turn.failed": TurnStatus.FAILED,
    "turn.interrupted": TurnStatus.INTERRUPTED,
}


def broken(said: list[Said]) -> Iterator[str]:
    """Every invariant that does not hold, in words."""
    turns = {str(turn.pk): turn for turn in Turn.objects.select_related("conversation")}
    for message in said:
        yield from _message(message, turns)
    yield from _doubles(turns)
    for conversation in Conversation.objects.all():
        yield from _session(conversation)


def _message(message: Said, turns: dict[str, Turn]) -> Iterator[str]:
    """What a person was told is what PostgreSQL holds."""
    turn = turns.get(message.turn_id)
    if not message.turn_id:
        return  # never acknowledged: the run ended first
    if turn is None:
        yield f"acknowledged turn {message.turn_id} is lost"
        return
    if turn.input != message.words or turn.user_id != message.user_id:
        yield f"turn {turn.pk} holds somebody else's words"
    if str(turn.conversation_id) != message.session_id or turn.conversation.user_id != message.user_id:
        yield f"turn {turn.pk} is in a wrong session"
    if message.end and turn.status != STATUS[message.end]:
        yield f"turn {turn.pk} was told as {message.end} and is {turn.status}"
    if message.end == "turn.completed" and not turn.output == message.output == message.words:
        yield f"turn {turn.pk}: the answer that was shown is not the one that is kept"
    if message.terminals > 1:
        yield f"turn {turn.pk} ended {message.terminals} times"


def _doubles(turns: dict[str, Turn]) -> Iterator[str]:
    words = Counter(turn.input for turn in turns.values())
    yield from (f"said once, kept {count} times: {text[:30]}" for text, count in words.items() if count > 1)
    running = [pk for pk, turn in turns.items() if turn.status == TurnStatus.RUNNING]
    yield from (f"turn {pk} still runs" for pk in running)


def _session(conversation: Conversation) -> Iterator[str]:
    """Numbers rise by two a turn, and a copy that calls itself current holds the same as PostgreSQL."""
    seqs = list(conversation.turns.order_by("seq").values_list("seq", flat=True))
    if seqs != list(range(1, 2 * len(seqs), 2)):
        yield f"session {conversation.pk} has the numbers {seqs}"
    copy = window.read(conversation, last_seq=conversation.last_seq)
    if copy is None:
        return
    kept = [item for turn in Turn.objects.replayable(conversation) for item in window.items_of(turn)]
    if copy.messages != [orjson.loads(item) for item in kept][-window.capacity() :]:
        yield f"session {conversation.pk}: the hot copy differs from PostgreSQL"
    key = window.keys_of(conversation).messages
    if get_redis_connection("memory").ttl(key) < 0 and copy.messages:
        yield f"session {conversation.pk}: the hot copy never expires"
