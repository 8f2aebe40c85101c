"""Making turns searchable: units, postings and vectors of what was said, soon after it was said.

The cursor `indexed_seq` of each session is the queue. A session is claimed, its new turns are read and embedded outside
any transaction, and stored in one that finds everything still as it was: the session with the same cursor and epoch,
its owner with the same epoch. So a killed worker loses nothing and repeats nothing, and what was erased meanwhile
does not come back.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import structlog
from django.db import DatabaseError, transaction
from django.db.models import Exists, F, OuterRef, QuerySet

from llm.embedders import Embedder, resolve_embedder
from memory import telemetry
from memory.buried import living
from memory.claims import claim
from memory.models import Conversation, MemoryOwner, Turn
from memory.retrieval.drafts import drafted, is_searched
from memory.retrieval.embedding import embedded
from memory.retrieval.storing import Counted, counted, store, words_of
from memory.retrieval.vector import Vector

logger = structlog.get_logger(__name__)
CLAIM = timedelta(minutes=2)
"""Longer than a batch takes. A killed worker's sessions are due again after it."""
TURNS = 50
"""Of one session at once: the session's row is locked while their units are written."""


@dataclass(frozen=True, slots=True)
class Batch:
    """New turns of one session: the units made of them, and up to which message the session is indexed with them."""

    conversation: Conversation
    owner_epoch: int | None
    made: Sequence[Counted]
    passed: int
    upto: int


def index_due_sessions(*, limit: int = 20) -> int:
    """Indexes new turns of up to `limit` sessions; how many sessions were claimed."""
    embedder = resolve_embedder()
    claimed = _claimed(limit)
    for conversation in claimed:
        with telemetry.indexing(session_id=conversation.pk) as found:
            batch = _batch(conversation)
            vectors = embedded([words_of(unit) for unit, _ in batch.made], embedder=embedder)
            if vectors is None and embedder is not None:
                found.missing = ("vectors",)
            found.count = _stored(batch, vectors, embedder)
    return len(claimed)


def lag() -> float:
    """How many sessions have turns that are not indexed yet; not a number while the database is away."""
    try:
        return Conversation.objects.filter(indexed_seq__lt=F("last_seq")).count()
    except DatabaseError:
        return math.nan


def _claimed(limit: int) -> list[Conversation]:
    """Sessions with new turns that have ended, claimed so that nobody else makes the same units meanwhile."""
    ended = Turn.objects.filter(conversation=OuterRef("pk"), seq__gt=OuterRef("indexed_seq")).filter(~Turn.unsettled())
    due = Conversation.objects.filter(Exists(ended), indexed_seq__lt=F("last_seq"))
    newest = due.order_by("-last_active_at")
    return claim(newest, column="index_claimed_until", lasting=CLAIM, limit=limit)


def _batch(conversation: Conversation) -> Batch:
    owner_epoch = _epochs(conversation).first()
    turns = conversation.turns.filter(user_id=conversation.user_id).order_by("seq")
    new = turns.filter(seq__gt=conversation.indexed_seq)
    open_one = new.filter(Turn.unsettled()).first()
    if open_one:
        new = new.filter(seq__lt=open_one.seq)
    passed = list(new[:TURNS])
    before = Turn.objects.replayable(conversation).filter(seq__lte=conversation.indexed_seq).last()
    made = []
    alive = {turn.pk: turn for turn in living([*passed, before] if before else passed)}
    before = alive.get(before.pk) if before else None
    for turn in passed:
        kept = alive.get(turn.pk)
        if kept and is_searched(kept):
            kept.conversation = conversation
            made.append(counted(drafted(kept, before=before).unit))
        before = kept if turn.is_replayable else before
    upto = passed[-1].seq + 1 if passed else conversation.indexed_seq
    return Batch(conversation, owner_epoch, made, passed=len(passed), upto=upto)


def _epochs(conversation: Conversation) -> QuerySet[MemoryOwner, int]:
    return MemoryOwner.objects.filter(user=conversation.user_id).values_list("epoch", flat=True)


@transaction.atomic
def _stored(batch: Batch, vectors: Sequence[Vector] | None, embedder: Embedder | None) -> int:
    """Stores the batch and moves the cursor, if nothing was erased or replaced since; how many units there are more."""
    claimed = batch.conversation
    session = Conversation.objects.select_for_update().filter(pk=claimed.pk)
    now = session.values_list("epoch", "indexed_seq").first()
    same_owner = _epochs(claimed).select_for_update().first() == batch.owner_epoch
    if now != (claimed.epoch, claimed.indexed_seq) or not same_owner:
        session.update(index_claimed_until=None)  # at once again, with what there is now
        telemetry.INDEXED.labels("overtaken").inc(batch.passed)
        return 0
    store(batch.made, vectors=vectors, embedder=embedder)
    session.update(indexed_seq=batch.upto, index_claimed_until=None)
    telemetry.INDEXED.labels("ok").inc(len(batch.made))
    telemetry.INDEXED.labels("skipped").inc(batch.passed - len(batch.made))
    return len(batch.made)
