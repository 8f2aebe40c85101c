"""Tells the model who it talks to: what the person confirmed about themselves, and what was counted."""

from flows import threads
from flows.plugins.base import Plugin
from flows.turn import FlowTurn
from memory.prompts import Block
from profiles.portrait import KIND, TITLE, portrait_of


class Portrait(Plugin):
    """Off where the person or the flow has switched it off, and wherever memory is off for the turn."""

    name = "portrait"
    budget = 1.0
    beside = True

    async def before(self, turn: FlowTurn) -> None:
        if not (turn.turn.memory_enabled and turn.definition.settings.portrait):
            return
        text = await threads.run(portrait_of, turn.user)
        if text:
            turn.blocks.append(Block(KIND, TITLE, text))
