"""Searches what the speaker said in other conversations, with no further call of a model."""

from typing import Any

from django.utils.translation import gettext as _
from pydantic import Field

from flows.nodes.base import NodeCall
from flows.tools.base import Arguments, Given, Tool


class SearchMemoryArguments(Arguments):
    query: str = Field(min_length=1, max_length=1000, description="What to look for: names, codes, topics")


class SearchMemory(Tool):
    """The product's own search, for this person alone."""

    name = "search_memory"
    description = (
        "Searches what this user said in earlier conversations: decisions, names, dates, preferences. Gives dated "
        "lines. Call it when the user refers to something that stands neither in this conversation nor in the data."
    )
    arguments = SearchMemoryArguments

    async def run(self, call: NodeCall, arguments: Any) -> Given:
        found = await call.conversing.search_memory(arguments.query)
        if found.is_off:
            return Given(_("Memory is switched off here."), ok=False)
        if not found.lines and found.missing:
            return Given(_("Memory is out of reach right now."), ok=False)
        return Given(found.lines or _("Nothing was found."))
