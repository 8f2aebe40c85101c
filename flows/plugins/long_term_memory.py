"""Gives the model what the same person said or did in other conversations, when it bears on the question."""

from datetime import UTC
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings

from flows import threads
from flows.plugins.base import Plugin
from flows.turn import FlowTurn
from memory.manager import MemoryManager
from memory.person import Person
from memory.recall import MemoryContext, block
from memory.retrieval.hits import Hit
from memory.retrieval.lanes import Busy
from memory.retrieval.search import BUSY, Query
from memory.telemetry import retrieving
from profiles.models import zone_of

LATE = "recall"
"""In `missing`: it took too long."""

NO_ZONE = ZoneInfo("UTC")
"""Of days that nobody is told."""


class LongTermMemory(Plugin):
    """Recalls by words and meaning, with no call of a model. Late or broken, the turn goes on without."""

    name = "long_term_memory"
    budget = 2.0  # the last fence: recall has a deadline of its own

    async def before(self, turn: FlowTurn) -> None:
        if not turn.turn.memory_enabled:
            return
        with retrieving(turn_id=turn.turn_id, source="recall") as found:
            context, zone = await self._recalled(turn)
            told = self._tell(turn, context, zone)
            found.count, found.missing = len(told), context.missing
            found.ids = [hit.id for hit in told]
        turn.missing.extend(context.missing)

    async def _recalled(self, turn: FlowTurn) -> tuple[MemoryContext, ZoneInfo]:
        scoped = turn.definition.settings.memory_scope == "flow"
        query = Query(
            text=turn.query,
            limit=settings.RECALL_LIMIT,
            flow_id=turn.turn.flow_id if scoped else None,
            except_session=turn.conversation.pk,
            deadline=settings.RECALL_SECONDS,
        )
        try:
            return await threads.recall(lambda: _look_up(turn.user, query), seconds=settings.RECALL_SECONDS)
        except Busy:
            return MemoryContext(missing=(BUSY,)), NO_ZONE
        except TimeoutError:
            return MemoryContext(missing=(LATE,)), NO_ZONE

    def _tell(self, turn: FlowTurn, context: MemoryContext, zone: ZoneInfo) -> list[Hit]:
        """Puts what was recalled into the turn, and notes the source of each line for its reader."""
        data, told = block(context.hits, zone=zone, room=settings.RECALL_TOKENS)
        if data:
            turn.blocks.append(data)
        for kind, name in (("turn", "turns"), ("episode", "episodes")):
            turn.memory_used[name] = [_reference(hit) for hit in told if hit.kind == kind]
        return told


def _look_up(user: Person, query: Query) -> tuple[MemoryContext, ZoneInfo]:
    context = MemoryManager().retrieve_memory(user, query)
    return context, zone_of(user) if context.hits else NO_ZONE


def _reference(hit: Hit) -> dict[str, Any]:
    """Where a line came from, without a word of it: what is erased there must not live on here."""
    return {
        f"{hit.kind}_id": str(hit.id),
        "session_id": str(hit.session_id) if hit.session_id else None,
        "occurred_at": f"{hit.occurred_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "score": round(hit.score, 3),
    }
