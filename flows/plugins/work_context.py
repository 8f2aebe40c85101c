"""Tells the model what work the person has to do, so that a conversation knows of what was just assigned."""

from flows import threads
from flows.plugins.base import Plugin
from flows.turn import FlowTurn
from memory.prompts import Block
from profiles.work_context import KIND, TITLE, work_context_of


class WorkContext(Plugin):
    """Off wherever the portrait is: both say who the person is at work."""

    name = "work_context"
    budget = 1.0
    beside = True

    async def before(self, turn: FlowTurn) -> None:
        if not (turn.turn.memory_enabled and turn.definition.settings.portrait):
            return
        text = await threads.run(work_context_of, turn.user)
        if text:
            turn.blocks.append(Block(KIND, TITLE, text))
