"""The rolling summary: what leaves the window is folded into the former summary, so that turn 1 is known at turn 60.

A session is due when enough messages are not covered. The oldest uncovered turns are folded, the newest stay
verbatim. Nothing is lost on the way: until a fold is committed its turns stay uncovered, and what is uncovered is
sent to the model as it stands.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

import llm
from llm import tokens
from llm.errors import ProviderError
from llm.profile import Profile
from llm.types import ChatRequest, Message
from memory import extractive
from memory.claims import claim
from memory.language import named, same_language
from memory.models import Conversation, JobKind, MemoryOwner, Turn
from memory.prompts import RULE, SUMMARY_TITLE, Block, fenced
from memory.redaction import redact
from memory.spending import spent
from memory.telemetry import FOLDS

logger = structlog.get_logger(__name__)
CLAIM = timedelta(minutes=5)
"""Longer than a model may take. A killed worker's session is due again after it."""
LONGEST_WAIT = timedelta(hours=1)
MESSAGE_TOKENS = 800
"""What one message may take of a fold: a long paste is read by its beginning and end."""
INSTRUCTION = (
    "You keep the running summary of a conversation. Join the former summary and the turns that follow it into one "
    "new summary of at most {tokens} tokens, in {language}. Keep people, tasks, decisions, dates, numbers and codes "
    "exactly as written; leave out greetings and how things were said. Where a later turn corrects an earlier one, "
    "keep the later. Say who said what: the user's statements are facts, the assistant's are suggestions. "
    "Answer with the summary alone. {rule}"
)


@dataclass(frozen=True, slots=True)
class Fold:
    """One session and the turns that its summary takes in next."""

    conversation: Conversation
    turns: Sequence[Turn]
    owner_epoch: int

    @property
    def covers_seq(self) -> int:
        return self.turns[-1].seq + 1


def fold_due_summaries(*, limit: int) -> int:
    """Folds what is due in up to `limit` sessions; how many summaries were made."""
    profile = llm.resolve_profile()
    return sum(_fold(conversation, profile) for conversation in _claimed(limit))


def _claimed(limit: int) -> list[Conversation]:
    """Due sessions, claimed so that nobody else folds them while the model writes."""
    grown = Conversation.objects.remembered().filter(last_seq__gte=F("covers_seq") + settings.SUMMARY_TRIGGER_MESSAGES)
    oldest = grown.order_by("last_active_at")
    return claim(oldest, column="summary_claimed_until", lasting=CLAIM, limit=limit)


def _fold(conversation: Conversation, profile: Profile) -> bool:
    fold = _due_part(conversation, profile)
    if fold is None:
        _release(conversation, until=timezone.now() + LONGEST_WAIT)
        return False
    try:
        summary = _made(fold, profile)
    except ProviderError as error:
        logger.warning("no summary", session_id=str(conversation.pk), error=error.code)
        summary = None
    if summary is None:
        FOLDS.labels("failed").inc()
        _release(conversation, until=_after_failure(conversation), failed=True)
        return False
    stored = _commit(fold, summary)
    FOLDS.labels("ok" if stored else "overtaken").inc()
    return stored


def _due_part(conversation: Conversation, profile: Profile) -> Fold | None:
    """The oldest uncovered turns without the newest, as many as one call of the model can read."""
    owner_epoch = MemoryOwner.objects.filter(user=conversation.user_id).values_list("epoch", flat=True).first()
    uncovered = Turn.objects.replayable(conversation).filter(seq__gt=conversation.covers_seq)
    newest = list(uncovered.order_by("-seq").values_list("seq", flat=True)[: settings.SUMMARY_KEEP_TURNS])
    if not newest:
        return None
    room = profile.context_tokens // 2
    taken: list[Turn] = []
    for turn in uncovered.filter(seq__lt=newest[-1]).iterator(chunk_size=50):
        room -= sum(min(tokens.count(text), MESSAGE_TOKENS) for text in (turn.input, turn.output))
        if taken and room < 0:
            break
        taken.append(turn)
    return Fold(conversation, taken, owner_epoch or 0) if taken else None


def _made(fold: Fold, profile: Profile) -> str | None:
    """The new summary; None when the model gave nothing that can stand."""
    remembered = [turn for turn in fold.turns if turn.memory_enabled]
    former = fold.conversation.summary
    if not remembered:
        return former
    if profile.provider == "offline":
        told = [redact(turn.input) for turn in remembered]
        return extractive.digest(told, room=settings.SUMMARY_TOKENS, kept=former)
    words = " ".join(turn.input for turn in remembered)
    request = _request(former, "\n".join(map(_told, remembered)), language=named(words))
    for _attempt in range(2):
        completion = llm.complete(request, profile=profile)
        spent(fold.conversation.user_id, JobKind.SUMMARY, completion.usage)
        summary = tokens.cut(redact(completion.text.strip()), settings.SUMMARY_TOKENS * 2)
        if summary and same_language(summary, words):
            return summary
    return None


def _told(turn: Turn) -> str:
    question, answer = (tokens.cut(redact(text), MESSAGE_TOKENS, keep="both") for text in (turn.input, turn.output))
    return f"{turn.started_at:%Y-%m-%d} user: {question}\nassistant: {answer}"


def _request(former: str, said: str, *, language: str) -> ChatRequest:
    instruction = INSTRUCTION.format(tokens=settings.SUMMARY_TOKENS, language=language, rule=RULE)
    blocks = [Block("summary", SUMMARY_TITLE, former)] if former else []
    data = fenced([*blocks, Block("turns", "[对话]", said)])
    return ChatRequest(
        messages=(Message("system", instruction), Message("user", data)),
        max_tokens=settings.SUMMARY_TOKENS * 4,
        thinking=False,
    )


def _commit(fold: Fold, summary: str) -> bool:
    """Stores the summary if nothing has happened to the session since it was claimed."""
    conversation = fold.conversation
    changed = MemoryOwner.objects.filter(user=OuterRef("user")).exclude(epoch=fold.owner_epoch)
    unchanged = Conversation.objects.remembered().filter(
        ~Exists(changed),
        pk=conversation.pk,
        covers_seq=conversation.covers_seq,
        epoch=conversation.epoch,
    )
    return bool(
        unchanged.update(
            summary=summary,
            covers_seq=fold.covers_seq,
            revision=F("revision") + 1,
            summary_failures=0,
            summary_claimed_until=None,
        )
    )


def _release(conversation: Conversation, *, until: datetime, failed: bool = False) -> None:
    Conversation.objects.filter(pk=conversation.pk).update(
        summary_claimed_until=until, summary_failures=F("summary_failures") + int(failed)
    )


def _after_failure(conversation: Conversation) -> datetime:
    """When to try again: twice as late each time, within an hour."""
    seconds: float = min(20 * 2.0**conversation.summary_failures, LONGEST_WAIT.total_seconds())
    return timezone.now() + timedelta(seconds=seconds)
