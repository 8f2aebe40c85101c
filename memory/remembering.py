"""What a person asks to be remembered, or writes down themselves: their own words, at once, pinned."""

import re
from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from llm.text import shortened
from memory import episodes
from memory.buried import living
from memory.consolidation import extracted
from memory.episodes.base import Draft
from memory.episodes.units import index_episode, prepared
from memory.errors import SessionNotFound
from memory.extraction import Account
from memory.models import Conversation, Episode, EpisodeOrigin, Turn
from memory.names import links_in, names_in
from memory.person import Person
from memory.redaction import redact
from memory.retrieval.drafts import is_searched

_ASKED = re.compile(
    r"^\s*(?:请|麻烦)?(?:你|您)?(?:帮我|替我|给我)?(?:记住|记下来?|记一下)(?:一下)?\s*[:：,，]?\s*(?P<zh>\S.*)$"
    r"|^\s*(?:please\s+|can you\s+|could you\s+)?remember(?:\s+that\b\s*|\s+this\b\s*[:,]?\s*|\s*[:,]\s*)(?P<en>\S.*)$",
    re.DOTALL | re.IGNORECASE,
)
_QUESTION = re.compile(r"[?？]\s*$|^(?:了|过)?(?:吗|没有|什么)")
TITLE_CHARS = 40
IMPORTANCE = 4


def asked_to_remember(words: str) -> str | None:
    """What "记住：…" or "remember that …" asks for, verbatim; None for anything else, a question about memory too."""
    found = _ASKED.match(words)
    text = (found["zh"] or found["en"]).strip() if found else ""
    return text if text and not _QUESTION.search(text) else None


def store_episode(user: Person, conversation: Conversation, turns: Sequence[Turn]) -> Episode:
    """Stores what turns of a session of the user say as an episode, in the person's own words.

    Raises ValueError without a turn of that session that may be remembered.
    """
    told = [turn for turn in living(turns) if turn.conversation_id == conversation.pk and is_searched(turn)]
    if not told:
        raise ValueError("None of these turns may be remembered: give complete turns of the session, with memory on.")
    draft = Draft(
        account=extracted(told),
        origin=EpisodeOrigin.SAID,
        occurred_from=told[0].started_at,
        occurred_to=told[-1].started_at,
        conversation=conversation,
        flow_id=conversation.flow_id,
        turns=told,
        from_seq=told[0].seq,
        to_seq=told[-1].seq + 1,
    )
    return _stored(user, draft)


def remember(user: Person, text: str, *, turn: Turn | None = None, pinned: bool = True) -> Episode:
    """Stores `text` as a memory of the user, redacted; what was stored before in the same words is pinned instead.

    With `turn` it was asked for there, and goes when its session is erased; else it was written by hand.
    """
    kept = redact(text.strip())
    names = names_in(kept)
    first = kept.splitlines()[0]
    account = Account(
        title=shortened(first, TITLE_CHARS),
        summary=kept,
        keywords=tuple(name.text for name in names),
        importance=IMPORTANCE,
        names=tuple(names),
        links=tuple(links_in(kept, names)),
    )
    at = turn.started_at if turn else timezone.now()
    draft = Draft(
        account=account,
        origin=EpisodeOrigin.SAID if turn else EpisodeOrigin.MANUAL,
        occurred_from=at,
        occurred_to=at,
        conversation=turn.conversation if turn else None,
        flow_id=turn.flow_id if turn else None,
        turns=[turn] if turn else [],
        from_seq=turn.seq if turn else None,
        to_seq=turn.seq + 1 if turn else None,
        pinned=pinned,
    )
    return _stored(user, draft)


def _stored(user: Person, draft: Draft) -> Episode:
    """Raises SessionNotFound when the session was erased meanwhile."""
    unit = prepared(draft)
    with transaction.atomic():
        if draft.conversation and not _locked(draft.conversation):
            raise SessionNotFound
        episode = episodes.save_episode(user, draft)
        if episode.merged_into and draft.pinned:
            Episode.objects.of(user).filter(pk=episode.merged_into.pk).update(pinned=True, updated_at=timezone.now())
        index_episode(episode, unit)
    return episode


def _locked(conversation: Conversation) -> bool:
    """Whether the session is still there; then it stays until the transaction ends."""
    return bool(Conversation.objects.select_for_update(no_key=True).filter(pk=conversation.pk).values_list("pk"))
