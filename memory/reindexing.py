"""Bringing stored units up to date: vectors that are due or of another model, tokens by former rules.

Everything goes in small steps that may end at any moment; what is left is found again by looking at the rows.
"""

import time
from collections.abc import Callable, Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from llm.embedders import Embedder, resolve_embedder
from memory import telemetry
from memory.models import Unit, UnitVector, VectorModel
from memory.retrieval import vector
from memory.retrieval.embedding import embedded
from memory.retrieval.storing import counted, post_again, words_of
from memory.retrieval.tokens import VERSION

STEP = 100

Progress = Callable[[int], None]


def embed_due(*, limit: int = STEP) -> int:
    """Makes the vectors of units that were stored while the embedder was away; how many."""
    embedder = resolve_embedder()
    due = Unit.objects.filter(vector_due=True).order_by("pk")
    return _embed(list(due[:limit]), embedder) or 0 if embedder else 0


def embed_missing(*, seconds: float, progress: Progress = lambda done: None) -> int:
    """Gives every unit a vector by the embedder of this process, those of other models staying; how many were made.

    It ends after `seconds`, or when the embedder fails.
    """
    embedder, until, made, last = resolve_embedder(), time.monotonic() + seconds, 0, 0
    while embedder and time.monotonic() < until:
        units = _without_vector(embedder, after=last)
        done = _embed(units, embedder)
        if not done:
            break
        made, last = made + done, units[-1].pk
        progress(made)
    return made


def retokenise(*, seconds: float, progress: Progress = lambda done: None) -> int:
    """Counts the tokens of units anew that were counted by former rules; how many."""
    until, made = time.monotonic() + seconds, 0
    while time.monotonic() < until and (done := _retokenise_step()):
        made += done
        progress(made)
    return made


def drop_other_models() -> int:
    """Deletes the vectors of every model but the one of this process; how many. Nobody should ask by them any more."""
    embedder, dropped = resolve_embedder(), 0
    others = VectorModel.objects.exclude(name=embedder.model) if embedder else VectorModel.objects.none()
    for model in others:
        with transaction.atomic():
            dropped += UnitVector.objects.filter(model=model).delete()[0]
            model.delete()
    return dropped


def left() -> tuple[int, int]:
    """How many units lack a vector by the embedder of this process, and how many have tokens by former rules."""
    embedder = resolve_embedder()
    without = Unit.objects.filter(~Exists(_vectors(embedder))).count() if embedder else 0
    return without, Unit.objects.filter(tokens_version__lt=VERSION).count()


def _vectors(embedder: Embedder) -> QuerySet[UnitVector]:
    return UnitVector.objects.filter(user=OuterRef("user"), unit=OuterRef("pk"), model__name=embedder.model)


def _without_vector(embedder: Embedder, *, after: int) -> list[Unit]:
    return list(Unit.objects.filter(~Exists(_vectors(embedder)), pk__gt=after).order_by("pk")[:STEP])


def _embed(units: Sequence[Unit], embedder: Embedder) -> int | None:
    """Embeds units and stores the vectors of those that are still there; None when the embedder failed."""
    vectors = embedded([words_of(unit) for unit in units], embedder=embedder) if units else None
    if vectors is None:
        return None
    made = dict(zip((unit.pk for unit in units), vectors, strict=True))
    with transaction.atomic():
        kept = Unit.objects.select_for_update(no_key=True).filter(pk__in=made).order_by("pk")
        there = list(kept.values_list("pk", flat=True))
        vector.store({number: made[number] for number in there}, embedder=embedder)
        Unit.objects.filter(pk__in=there, vector_due=True).update(vector_due=False)
    telemetry.INDEXED.labels("embedded").inc(len(there))
    return len(units)


@transaction.atomic
def _retokenise_step() -> int:
    former = Unit.objects.filter(tokens_version__lt=VERSION).order_by("pk")
    units = list(former.select_for_update(skip_locked=True)[:STEP])
    if units:
        post_again([counted(unit) for unit in units])
    return len(units)
