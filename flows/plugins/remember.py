"""Stores at once what somebody asks to be remembered ("记住：…", "remember that …"), in their own words."""

from flows import threads
from flows.plugins.base import Plugin
from flows.turn import FlowTurn
from memory.remembering import asked_to_remember, remember


class Remember(Plugin):
    """Works behind the commit: the answer is safe whatever becomes of this."""

    name = "remember"
    budget = 5.0

    async def after(self, turn: FlowTurn) -> None:
        text = asked_to_remember(turn.words) if turn.turn.memory_enabled else None
        if text:
            await threads.run(remember, turn.user, text, turn=turn.turn)
