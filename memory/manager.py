"""The front door of memory: what flows, pages and the API ask of conversations goes through here.

Every call takes the user it is for, and sees nobody else's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import orjson
from django.db.models import F

from memory import forgetting, related, window
from memory.errors import SessionNotFound, TurnNotFound
from memory.models import Conversation, Episode, SharedConversation, TitleSource, Turn
from memory.models.conversation import ConversationQuerySet
from memory.person import Person
from memory.recall import MemoryContext
from memory.remembering import store_episode
from memory.retrieval.search import Query
from memory.turns import OpenedTurn, Outcome, TurnRequest, end_turn, open_turn

HOT_COPY = "hot_copy"
"""In `missing`: Redis was away and the turns came from PostgreSQL. Nothing is lost, only slower."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a turn is given of its own conversation.

    `messages` are `{role, content, ts, seq}` with `ts` as ISO text, oldest first, all after what `summary` covers.
    `missing` names what could not be reached.
    """

    messages: list[dict[str, Any]] = field(default_factory=list)
    summary: str = ""
    missing: tuple[str, ...] = ()


class MemoryManager:
    """Conversation memory for one process. It keeps no state: any instance is as good as another."""

    def open_turn(self, user: Person, request: TurnRequest) -> OpenedTurn:
        """Saves the question before any model is called; see `memory.turns.open_turn` for its errors."""
        return open_turn(user, request)

    def inject_memory(self, user: Person, *, conversation: Conversation, turn: Turn) -> Recalled:
        """The window and summary as they stood before `turn`, from Redis, else from PostgreSQL.

        `conversation` is the row that opening the turn returned, so the good case costs one trip to Redis.
        A turn whose memory is off is given what the copy holds of its own session, and no summary.
        """
        _require_owner(user, conversation)
        last_seq = turn.seq - 1
        if last_seq == 0:
            return Recalled()
        copy = window.read(conversation, last_seq=last_seq)
        if copy is None:
            return self._rebuilt(conversation, last_seq, memory=turn.memory_enabled)
        messages = copy.messages
        if not turn.memory_enabled:
            return Recalled(messages)
        if messages and messages[0]["seq"] <= conversation.covers_seq:
            messages = [message for message in messages if message["seq"] > conversation.covers_seq]
        first = messages[0]["seq"] if messages else last_seq + 1
        if first > conversation.covers_seq + 1 and len(copy.messages) >= window.capacity():
            messages = self._fallen_off(conversation, before=first) + messages
        return Recalled(messages, copy.summary)

    def record_exchange(
        self, user: Person, *, conversation: Conversation, turn: Turn, outcome: Outcome
    ) -> tuple[str, ...]:
        """Commits how the turn ended, then brings the hot copy up to date.

        When it returns the answer is durable. Returns what could not be reached; raises TurnEnded when the
        turn no longer runs, and then nothing was written anywhere.
        """
        _require_owner(user, conversation)
        end_turn(turn, outcome)
        replayed = turn.is_replayable
        stored = window.append(conversation, turn, window.items_of(turn) if replayed else [])
        return () if stored else (HOT_COPY,)

    def get_conversation_history(self, user: Person, session_id: UUID) -> list[dict[str, Any]]:
        """Every message shown in a session, oldest first, as `Turn.messages_shown` gives them."""
        conversation = self.get_session(user, session_id)
        return [message for turn in Turn.objects.shown(conversation) for message in turn.messages_shown()]

    def get_session(self, user: Person, session_id: UUID) -> Conversation:
        """The session's row with its counts. Raises SessionNotFound for a foreign or missing one alike."""
        conversation = Conversation.objects.visible_to(user).filter(pk=session_id).with_counts().first()
        if conversation is None:
            raise SessionNotFound
        return conversation

    def get_turn(self, user: Person, turn_id: UUID) -> Turn:
        """The turn's row with its session. Raises TurnNotFound for a foreign or missing one alike."""
        turn = Turn.objects.visible_to(user).select_related("conversation").filter(pk=turn_id).first()
        if turn is None:
            raise TurnNotFound
        return turn

    def retrieve_memory(self, user: Person, query: str | Query) -> MemoryContext:
        """What `user` said elsewhere that bears on the query, within its deadline and with no model call.

        Never raises for a store that is away: what could not be reached is in `missing`.
        """
        return related.retrieve(user, Query(query) if isinstance(query, str) else query)

    def add_episode(self, user: Person, session_id: UUID, turns: Sequence[Turn]) -> Episode:
        """Stores what these turns of a session say as an episode, in the person's own words. Raises SessionNotFound."""
        return store_episode(user, self.get_session(user, session_id), turns)

    def change_session(self, user: Person, session_id: UUID, **changes: Any) -> None:
        """Sets `title`, `memory_enabled` or `important`. Raises SessionNotFound."""
        mine = Conversation.objects.visible_to(user).filter(pk=session_id)
        if "title" in changes:
            changes["title_source"] = TitleSource.PERSON
        if not (mine.update(**changes) if changes else mine.exists()):
            raise SessionNotFound

    def list_user_sessions(self, user: Person, *, flow_id: int | None = None) -> ConversationQuerySet:
        """The user's sessions, newest first, with counts; prunes dead members of the index in Redis."""
        sessions = Conversation.objects.visible_to(user)
        members = window.recent_members(user.pk) or []
        if members:
            known = sessions.filter(pk__in=[member.rsplit(":", 1)[1] for member in members])
            alive = {f"{flow}:{pk}" for flow, pk in known.values_list("flow_id", "pk")}
            window.forget_members(user.pk, set(members) - alive)
        if flow_id is not None:
            sessions = sessions.filter(flow_id=flow_id)
        return sessions.with_counts()

    def share_session(self, user: Person, session_id: UUID) -> SharedConversation:
        """Lets colleagues read the session as it stands now. Raises SessionNotFound."""
        conversation = self.get_session(user, session_id)
        shared, _made = SharedConversation.objects.update_or_create(
            conversation=conversation, defaults={"last_seq": conversation.last_seq}
        )
        return shared

    def unshare_session(self, user: Person, session_id: UUID) -> None:
        """Ends the sharing of the session. Raises SessionNotFound."""
        conversation = self.get_session(user, session_id)
        SharedConversation.objects.of(user).filter(conversation=conversation).delete()

    def mark_seen(self, user: Person, session_id: UUID) -> None:
        """Notes that the owner was shown everything there is in the session; nothing for a foreign one."""
        Conversation.objects.visible_to(user).filter(pk=session_id).update(seen_seq=F("last_seq"))

    def delete_session(self, user: Person, session_id: UUID) -> forgetting.Report:
        """Erases one session and everything made from it. Raises SessionNotFound."""
        return forgetting.erase(user, scope=forgetting.Scope.SESSION, session_id=session_id)

    def _rebuilt(self, conversation: Conversation, last_seq: int, *, memory: bool) -> Recalled:
        """Reads the uncovered turns from PostgreSQL and leaves a fresh copy in Redis."""
        past = Turn.objects.replayable(conversation).filter(seq__lte=last_seq)
        turns = list(past.filter(seq__gt=conversation.covers_seq))
        if len(turns) < window.capacity() // 2:  # covered ones fill the copy, for turns whose memory is off
            turns = list(past.order_by("-seq")[: window.capacity() // 2])[::-1]
        shown = Turn.objects.shown(conversation).filter(seq__lte=last_seq)
        stored = window.replace(
            conversation,
            turns,
            last_seq=last_seq,
            message_count=sum(shown.values_list("messages", flat=True)),
        )
        missing = () if stored else (HOT_COPY,)
        if not memory:
            return Recalled(_as_messages(turns)[-window.capacity() :], missing=missing)
        uncovered = [turn for turn in turns if turn.seq > conversation.covers_seq]
        return Recalled(_as_messages(uncovered), conversation.summary, missing)

    def _fallen_off(self, conversation: Conversation, *, before: int) -> list[dict[str, Any]]:
        """Uncovered messages that the hot copy no longer holds."""
        past = Turn.objects.replayable(conversation).filter(seq__gt=conversation.covers_seq, seq__lt=before)
        return _as_messages(list(past))


def _require_owner(user: Person, conversation: Conversation) -> None:
    if conversation.user_id != user.pk:
        raise SessionNotFound


def _as_messages(turns: list[Turn]) -> list[dict[str, Any]]:
    """The messages of replayable turns, just as the hot copy would give them."""
    return [orjson.loads(item) for turn in turns for item in window.items_of(turn)]
