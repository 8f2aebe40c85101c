"""Looking for what the person of a turn said elsewhere: before an answer, and when a model asks for it."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from django.conf import settings

from flows import threads
from flows.nodes.base import Remembered
from memory.manager import MemoryManager
from memory.person import Person
from memory.recall import MemoryContext, block
from memory.retrieval.hits import Hit
from memory.retrieval.lanes import Busy
from memory.retrieval.search import BUSY, Query
from memory.telemetry import retrieving
from profiles.models import zone_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flows.turn import FlowTurn

LATE = "recall"
"""In `missing`: it took too long."""
NO_ZONE = ZoneInfo("UTC")
"""Of days that nobody is told."""
TOOL_TOKENS = 600
"""What the lines for a model that asked may take together."""
NAMES = {"turn": "turns", "episode": "episodes"}


async def recalled(turn: FlowTurn, text: str, *, seconds: float) -> tuple[MemoryContext, ZoneInfo]:
    """What bears on `text`, as far as the flow's settings reach, and the zone that its days are told in.

    Late or with all threads taken it is empty, and says so.
    """
    scoped = turn.definition.settings.memory_scope == "flow"
    query = Query(
        text=text,
        limit=settings.RECALL_LIMIT,
        flow_id=turn.turn.flow_id if scoped else None,
        except_session=turn.conversation.pk,
        deadline=seconds,
    )
    try:
        return await threads.recall(lambda: _look_up(turn.user, query), seconds=seconds)
    except Busy:
        return MemoryContext(missing=(BUSY,)), NO_ZONE
    except TimeoutError:
        return MemoryContext(missing=(LATE,)), NO_ZONE


async def asked_for(turn: FlowTurn, text: str) -> Remembered:
    """What a model is given that asks for it; the answer then says that it used it."""
    if not turn.turn.memory_enabled:
        return Remembered(is_off=True)
    with retrieving(turn_id=turn.turn_id, source="tool") as found:
        context, zone = await recalled(turn, text, seconds=settings.SEARCH_SECONDS)
        data, told = block(context.hits, zone=zone, room=TOOL_TOKENS)
        found.count, found.missing, found.ids = len(told), context.missing, [hit.id for hit in told]
    turn.missing.extend(context.missing)
    note(turn, told)
    return Remembered(data.text if data else "", missing=context.missing)


def note(turn: FlowTurn, told: Sequence[Hit]) -> None:
    """Notes the source of each line for the reader of the answer, once."""
    for kind, name in NAMES.items():
        known = turn.memory_used.get(name, [])
        ids = {reference[f"{kind}_id"] for reference in known}
        new = [reference(hit) for hit in told if hit.kind == kind and str(hit.id) not in ids]
        turn.memory_used[name] = [*known, *new]


def reference(hit: Hit) -> dict[str, Any]:
    """Where a line came from, without a word of it: what is erased there must not live on here."""
    return {
        f"{hit.kind}_id": str(hit.id),
        "session_id": str(hit.session_id) if hit.session_id else None,
        "occurred_at": f"{hit.occurred_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "score": round(hit.score, 3),
    }


def _look_up(user: Person, query: Query) -> tuple[MemoryContext, ZoneInfo]:
    context = MemoryManager().retrieve_memory(user, query)
    return context, zone_of(user) if context.hits else NO_ZONE
