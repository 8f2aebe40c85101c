"""Turns that indexing has not reached yet: read from the transcript, so that what was just said is found too."""

from django.db.models import F
from django.db.models.functions import Left

from memory.buried import living
from memory.models import REPLAYED, Conversation, Turn
from memory.retrieval.drafts import Draft, drafted, is_searched
from memory.retrieval.scope import Scope

TURNS = 200
SIDE_CHARS = 2_000
MARGIN = 200
"""Characters read beyond, so that the redaction sees whole what stands at the cut."""


def pending(scope: Scope) -> list[Draft]:
    """The newest turns in scope that are not indexed, at most TURNS, their sides shortened to SIDE_CHARS."""
    behind = Conversation.objects.visible_to(scope.user).filter(indexed_seq__lt=F("last_seq"))
    if scope.except_session is not None:
        behind = behind.exclude(pk=scope.except_session)
    sessions = list(behind.values_list("pk", flat=True))
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
