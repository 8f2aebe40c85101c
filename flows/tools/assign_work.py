"""Prepares a task for somebody. The model cannot give work: the person sees a card, and creates the task themselves."""

from typing import Any

from pydantic import Field

from flows.nodes.assign_card import Wish, proposal
from flows.nodes.assign_work import nobody
from flows.nodes.base import NodeCall, Proposal
from flows.tools.base import Arguments, Given, Tool


class AssignWorkArguments(Arguments):
    assignee: str = Field(min_length=1, max_length=2000, description="Who is to do it, as the user called them")
    title: str = Field(default="", max_length=2000, description="What is to be done, short, in the user's language")
    due: str = Field(
        default="",
        max_length=2000,
        description="The user's own words that say when it is due, such as 下周五前; not worked out. Empty: no date",
    )
    description: str = Field(default="", max_length=5000, description="Details that the user gave")


class AssignWork(Tool):
    """Shares its card with the assign_work node: the same reading, the same words, the same permission."""

    name = "assign_work"
    description = (
        "Prepares a task that the user wants to give to somebody, or to themselves. The user is shown a card to check "
        "and to confirm; nothing is created before. Call it only when the user asks for a task to be given."
    )
    arguments = AssignWorkArguments

    async def run(self, call: NodeCall, arguments: Any) -> Given | Proposal:
        wish = await Wish.read(
            call.working,
            words=str(call.inputs.get("input", "")),
            assignee=arguments.assignee,
            due=arguments.due,
            title=arguments.title,
            description=arguments.description,
        )
        if arguments.due and wish.due is None:
            return Given("That says no date. Call again with the user's own words for it, or without one.", ok=False)
        return proposal(wish) or Given(nobody(), ok=False)
