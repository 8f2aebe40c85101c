"""Turns that indexing has not reached yet: read from the transcript, so that what was just said is found too."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Left

from memory.buried import living
from memory.models import REPLAYED, Turn
from memory.retrieval.drafts import Draft, drafted, is_searched
from memory.retrieval.scope import Scope

TURNS = 200
SIDE_CHARS = 2_000
MARGIN = 200
"""Characters read beyond, so that the redaction sees whole what stands at the cut."""


def pending(scope: Scope, sessions: Sequence[UUID]) -> list[Draft]:
    """The newest turns of these sessions in scope that are not indexed, at most TURNS, sides cut to SIDE_CHARS.

    `sessions` are those of `scope.behind`, which a search knows before it asks anything else.
    """
    if not sessions:  # as nearly always
        return []
    said = Turn.objects.visible_to(scope.user).filter(
        conversation__in=sessions, seq__gt=F("conversation__indexed_seq"), status__in=REPLAYED, memory_enabled=True
    )
    if scope.flow_id is not None:
        said = said.filter(flow_id=scope.flow_id)
    cut = said.annotate(question=Left("input", SIDE_CHARS + MARGIN), answer=Left("output", SIDE_CHARS + MARGIN))
    rows = cut.select_related("conversation").defer("input", "output").order_by("-started_at", "-pk")[:TURNS]
    return [drafted(turn, chars=SIDE_CHARS) for turn in living(map(_with_sides, rows)) if is_searched(turn)]


def _with_sides(row: Turn) -> Turn:
    row.input, row.output = row.question, row.answer  # type: ignore[attr-defined]  # annotations
    return row
