"""Gives the model what the same person said or did in other conversations, when it bears on the question."""

from django.conf import settings

from flows.memory_search import note, recalled
from flows.plugins.base import Plugin
from flows.turn import FlowTurn
from memory.recall import block
from memory.telemetry import retrieving


class LongTermMemory(Plugin):
    """Recalls by words and meaning, with no call of a model. Late or broken, the turn goes on without.

    Nothing is looked for where no model is asked, as in a flow that only shows a card, or behind its click.
    """

    name = "long_term_memory"
    budget = 2.0  # the last fence: recall has a deadline of its own
    beside = True

    async def before(self, turn: FlowTurn) -> None:
        if not (turn.turn.memory_enabled and turn.asks_a_model):
            return
        with retrieving(turn_id=turn.turn_id, source="recall") as found:
            context, zone = await recalled(turn, turn.query, seconds=settings.RECALL_SECONDS)
            data, told = block(context.hits, zone=zone, room=settings.RECALL_TOKENS)
            if data:
                turn.blocks.append(data)
            note(turn, told)
            found.count, found.missing = len(told), context.missing
            found.ids = [hit.id for hit in told]
        turn.missing.extend(context.missing)
