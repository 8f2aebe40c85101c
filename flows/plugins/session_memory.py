"""Gives the model the conversation so far: the window, and the summary of what has left it."""

from flows import threads
from flows.plugins.base import Plugin
from flows.turn import FlowTurn
from memory.manager import MemoryManager
from memory.prompts import SUMMARY_TITLE, Block
from memory.telemetry import retrieving


class SessionMemory(Plugin):
    """Reads the session's own turns. Without it every message is the first one of its conversation."""

    name = "session_memory"
    budget = 5.0

    async def before(self, turn: FlowTurn) -> None:
        if turn.turn.seq == 1:
            return  # nothing was said before
        with retrieving(turn_id=turn.turn_id) as found:
            recalled = await threads.run(
                MemoryManager().inject_memory, turn.user, conversation=turn.conversation, turn=turn.turn
            )
            found.count = len(recalled.messages)
            found.missing = recalled.missing
        turn.recalled = recalled
        turn.missing.extend(recalled.missing)
        if recalled.summary:
            turn.blocks.append(Block("summary", SUMMARY_TITLE, recalled.summary))
