"""Turns that indexing has not reached yet: read from the transcript, so that what was just said is found too."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from memory.buried import UNTOLD
from memory.models import REPLAYED, Conversation, Turn
from memory.retrieval.drafts import Draft, drafted, is_searched
from memory.retrieval.scope import Scope

TURNS = 200
SIDE_CHARS = 2_000
MARGIN = 200
"""Characters read beyond, so that the redaction sees whole what stands at the cut."""

# In one statement, tombstones and all (`memory.buried` has the same rule for rows that are there already): a search
# waits for it. Turns under a tombstone are left out; where all of them lie on the answer alone, the question counts.
PENDING = """
SELECT turn.id, turn.conversation_id, turn.flow_id, turn.seq, turn.status, turn.started_at,
    left(turn.input, {chars}), CASE WHEN stone.answer_only THEN %(untold)s ELSE left(turn.output, {chars}) END,
    session.title, session.flow_name
FROM memory_turn turn JOIN memory_conversation session ON session.id = turn.conversation_id
LEFT JOIN LATERAL (
    SELECT bool_and(answer_only) AS answer_only FROM memory_tombstone WHERE turn_id = turn.id AND user_id = %(user)s
) stone ON true
WHERE turn.user_id = %(user)s AND turn.conversation_id = ANY(%(sessions)s) AND turn.seq > session.indexed_seq
    AND turn.status = ANY(%(replayed)s) AND turn.output <> '' AND turn.memory_enabled
    AND stone.answer_only IS DISTINCT FROM false{flow}
ORDER BY turn.started_at DESC, turn.id DESC LIMIT {turns}
"""


def pending(scope: Scope, sessions: Sequence[UUID]) -> list[Draft]:
    """The newest turns of these sessions in scope that are not indexed, at most TURNS, sides cut to SIDE_CHARS.

    `sessions` are those of `scope.behind`, which a search knows before it asks anything else.
    """
    if not sessions:  # as nearly always
        return []
    flow = "" if scope.flow_id is None else " AND turn.flow_id = %(flow)s"
    statement = PENDING.format(chars=SIDE_CHARS + MARGIN, turns=TURNS, flow=flow)
    values = {"sessions": list(sessions), "replayed": list(REPLAYED), "untold": UNTOLD}
    with connection.cursor() as cursor:
        cursor.execute(statement, scope.values | values)
        turns = [_turn(scope, *row) for row in cursor.fetchall()]
    return [drafted(turn, chars=SIDE_CHARS) for turn in turns if is_searched(turn)]


def _turn(scope: Scope, *row: Any) -> Turn:
    """A turn with what is searched of it, for reading alone."""
    pk, session, flow, seq, status, started_at, question, answer, title, source = row
    return Turn(
        pk=pk,
        user_id=scope.user.pk,
        conversation=Conversation(pk=session, user_id=scope.user.pk, title=title, flow_name=source),
        flow_id=flow,
        seq=seq,
        status=status,
        started_at=started_at,
        input=question,
        output=answer,
    )
