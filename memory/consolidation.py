"""Turning conversations into episodes: each stretch of turns exactly once, whatever dies in between.

The cursor `consolidated_seq` of a session is the queue. A due session is claimed, its next stretch read and given to
the model outside any transaction, and the episode stored in one that finds the session and its owner as they were: the
same cursor and the same epochs. A killed worker leaves a claim that runs out; what was erased meanwhile does not come
back. After five failures the stretch gets an extractive episode and a dead letter, and the cursor moves on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

import llm
from llm import tokens
from llm.errors import ProviderError
from llm.profile import Profile
from llm.text import shortened
from memory import episodes, extractive, telemetry
from memory.buried import living
from memory.claims import claim
from memory.episodes.base import Draft
from memory.episodes.units import index_episode, prepared
from memory.extraction import Account, Unusable, question, read, words_of
from memory.models import (
    MADE_BY_JOBS,
    Conversation,
    DeadLetter,
    Episode,
    EpisodeOrigin,
    ForgetfulFlow,
    JobKind,
    MemoryOwner,
    Turn,
)
from memory.names import links_in, names_in
from memory.retrieval.drafts import is_searched
from memory.smalltalk import is_small_talk
from memory.spending import spent

logger = structlog.get_logger(__name__)
CLAIM = timedelta(minutes=10)
"""Longer than a model may take, twice."""
TURNS = 12
"""Of one stretch at most."""
ATTEMPTS = 5
FIRST_WAIT, LONGEST_WAIT = 20.0, 3600.0
"""Seconds after a failure, doubled each time."""
EXTRACT_TOKENS = 160
TITLE_CHARS = 40


@dataclass(frozen=True, slots=True)
class Stretch:
    """The next turns of a session that no episode accounts for. `turns` are those worth reading; it may have none."""

    conversation: Conversation
    owner_epoch: int | None
    turns: Sequence[Turn]
    to_seq: int

    @property
    def from_seq(self) -> int:
        return self.conversation.consolidated_seq + 1


@dataclass(frozen=True, slots=True)
class Made:
    """What became of a stretch: an account with its origin, or None for one that is passed over, and why."""

    account: Account | None
    origin: EpisodeOrigin = EpisodeOrigin.EXTRACTED
    outcome: str = "ok"
    error: str = ""


def consolidate_due_sessions(*, limit: int = 20) -> int:
    """Reads the next stretch of up to `limit` due sessions; how many were claimed."""
    profile = llm.resolve_profile()
    claimed = _claimed(limit)
    for conversation in claimed:
        with telemetry.consolidating(session_id=conversation.pk) as found:
            stretch = next_stretch(conversation)
            if stretch is None:
                _release(conversation)
                continue
            made = _made(stretch, profile)
            found.outcome = _settled(stretch, made) if made else "failed"
    return len(claimed)


def _claimed(limit: int) -> list[Conversation]:
    rested = Q(last_active_at__lt=timezone.now() - timedelta(seconds=settings.MEMORY_REST_SECONDS))
    grown = Q(last_seq__gte=F("consolidated_seq") + 2 * settings.MEMORY_REST_TURNS)
    only = {"important": True} if settings.MEMORY_ONLY_IMPORTANT else {}
    due = Conversation.objects.remembered().filter(rested | grown, consolidated_seq__lt=F("last_seq"), **only)
    oldest = due.order_by("last_active_at")
    return claim(oldest, column="consolidation_claimed_until", lasting=CLAIM, limit=limit)


def next_stretch(conversation: Conversation) -> Stretch | None:
    """The stretch behind the cursor, as long as one call of a model should read; None while its first turn runs."""
    owner_epoch = _epoch_of(conversation)
    new = conversation.turns.filter(user_id=conversation.user_id, seq__gt=conversation.consolidated_seq).order_by("seq")
    taken: list[Turn] = []
    for turn in new[:TURNS]:
        if turn.is_unsettled:
            break
        taken.append(turn)
    if not taken:
        return None
    return Stretch(conversation, owner_epoch, [turn for turn in living(taken) if is_searched(turn)], taken[-1].seq + 1)


def _epoch_of(conversation: Conversation) -> int | None:
    return MemoryOwner.objects.filter(user=conversation.user_id).values_list("epoch", flat=True).first()


def _made(stretch: Stretch, profile: Profile) -> Made | None:
    """What the stretch gives; None when it is to be tried again later."""
    told = [turn for turn in stretch.turns if not is_small_talk(turn.input)]
    if not told:
        return Made(None, outcome="small_talk")
    if profile.provider == "offline":
        return _worth(Made(extracted(told), EpisodeOrigin.EXTRACTIVE))
    try:
        return _worth(Made(ask(stretch.conversation.user_id, told, profile)))
    except (ProviderError, Unusable) as error:
        logger.warning("failed to add episode", session_id=str(stretch.conversation.pk), error=error.code)
        telemetry.ERRORS.labels("episode").inc()
        if stretch.conversation.consolidation_failures + 1 < ATTEMPTS:
            _postpone(stretch.conversation)
            return None
        return Made(extracted(told), EpisodeOrigin.EXTRACTIVE, outcome="dead_letter", error=error.code)


def _worth(made: Made) -> Made:
    account = made.account
    if account is None or not account.summary:
        return Made(None, outcome="nothing_said")
    if account.importance < settings.MEMORY_MIN_IMPORTANCE:
        return Made(None, outcome="unimportant")
    return made


def ask(user_id: int, turns: Sequence[Turn], profile: Profile) -> Account:
    """The model's account of turns, which it is asked for once more when the first answer cannot be used.

    Raises ProviderError or Unusable.
    """
    fault, former = "", ""
    for last in (False, True):
        completion = llm.complete(question(turns, fault=fault, former=former), profile=profile)
        spent(user_id, JobKind.EPISODE, completion.usage)
        try:
            return read(completion, turns)
        except Unusable as error:
            if last:
                raise
            fault, former = error.code, completion.text
    raise AssertionError("unreachable")


def extracted(turns: Sequence[Turn]) -> Account:
    """An account without a model: the person's own weightiest sentences, with the names in them."""
    told = words_of(turns)
    summary = extractive.digest(told.splitlines(), room=EXTRACT_TOKENS)
    names = names_in(summary)
    first = next(iter(summary.splitlines()), "")
    return Account(
        title=shortened(first, TITLE_CHARS),
        summary=summary,
        keywords=tuple(name.text for name in names),
        importance=min(2 + extractive.weight(tokens.cut(summary, EXTRACT_TOKENS)) // 3, 4),
        names=tuple(names),
        links=tuple(links_in(summary, names)),
    )


def _settled(stretch: Stretch, made: Made) -> str:
    """Stores what was made and moves the cursor, if session and owner are as they were; how it went."""
    draft = _draft(stretch, made)
    unit = prepared(draft) if draft else None
    with transaction.atomic():
        if not _is_unchanged(stretch):
            _release(stretch.conversation)
            return "overtaken"
        if draft and unit:
            user = draft.turns[0].user
            index_episode(episodes.save_episode(user, draft), unit)
        if made.error:
            _dead_letter(stretch, made.error)
        Conversation.objects.filter(pk=stretch.conversation.pk).update(
            consolidated_seq=stretch.to_seq, consolidation_claimed_until=None, consolidation_failures=0
        )
    return made.outcome


def _draft(stretch: Stretch, made: Made) -> Draft | None:
    if made.account is None or not made.account.summary:
        return None
    return Draft(
        account=made.account,
        origin=made.origin,
        occurred_from=stretch.turns[0].started_at,
        occurred_to=stretch.turns[-1].started_at,
        conversation=stretch.conversation,
        flow_id=stretch.conversation.flow_id,
        turns=stretch.turns,
        from_seq=stretch.from_seq,
        to_seq=stretch.to_seq,
    )


def _is_unchanged(stretch: Stretch) -> bool:
    """Whether nothing was erased, replaced or switched off since the stretch was read. Locks both rows."""
    claimed = stretch.conversation
    session = Conversation.objects.select_for_update().filter(pk=claimed.pk, memory_enabled=True)
    now = session.values_list("epoch", "consolidated_seq").first()
    owner = MemoryOwner.objects.select_for_update().filter(user=claimed.user_id)
    switched = owner.values_list("epoch", "memory_enabled").first()
    same_owner = switched in (None, (stretch.owner_epoch, True))
    off_here = ForgetfulFlow.objects.filter(user=claimed.user_id, flow_id=claimed.flow_id).exists()
    return now == (claimed.epoch, claimed.consolidated_seq) and same_owner and not off_here


def _dead_letter(stretch: Stretch, error: str) -> None:
    DeadLetter.objects.update_or_create(
        conversation=stretch.conversation,
        from_seq=stretch.from_seq,
        defaults={
            "user_id": stretch.conversation.user_id,
            "to_seq": stretch.to_seq,
            "error": error,
            "attempts": ATTEMPTS,
            "retry_at": None,
        },
    )


def _release(conversation: Conversation) -> None:
    """Gives the claim back: at once due again, or when its running turn has ended and the session has rested."""
    Conversation.objects.filter(pk=conversation.pk).update(consolidation_claimed_until=None)


def _postpone(conversation: Conversation) -> None:
    wait = min(FIRST_WAIT * 2.0**conversation.consolidation_failures, LONGEST_WAIT)
    Conversation.objects.filter(pk=conversation.pk).update(
        consolidation_claimed_until=timezone.now() + timedelta(seconds=wait),
        consolidation_failures=F("consolidation_failures") + 1,
    )


def redo(conversation: Conversation, turn_id: UUID) -> None:
    """Takes back the episode that was drawn from a turn that is replaced: its stretch is read again.

    One that its owner edited or pinned stays. For the transaction that replaces the turn and saves `conversation`.
    """
    drawn = Episode.objects.of(conversation.user).filter(
        turns=turn_id, origin__in=MADE_BY_JOBS, edited=False, pinned=False
    )
    starts = [start for start in drawn.values_list("from_seq", flat=True) if start is not None]
    if starts:
        episodes.forget(conversation.user, list(drawn.values_list("pk", flat=True)))
        conversation.consolidated_seq = min(conversation.consolidated_seq, *(start - 1 for start in starts))
