"""Tells profiles that a turn ended, in which flow and by which model: what figures are counted from."""

from flows import threads
from flows.plugins.base import Plugin
from flows.turn import FlowTurn
from memory.models import REPLAYED
from profiles.facts import Ended, turn_ended


class ProfileFacts(Plugin):
    """A turn that failed is no use of a flow, and one that nothing is to be remembered of is nobody's business."""

    name = "profile_facts"
    budget = 5.0

    async def after(self, turn: FlowTurn) -> None:
        answered = turn.outcome is not None and turn.outcome.status in REPLAYED
        if not (answered and turn.turn.memory_enabled):
            return
        conversation = turn.conversation
        ended = Ended(
            turn_id=turn.turn_id,
            session_id=conversation.pk,
            flow_id=conversation.flow_id,
            flow_name=conversation.flow_name,
            model=turn.profile.model,
        )
        await threads.run(turn_ended, turn.user, ended)
