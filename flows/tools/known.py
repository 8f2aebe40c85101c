"""The tools by name, in the order in which a model is told of them."""

from flows.tools.assign_work import AssignWork
from flows.tools.base import Tool
from flows.tools.find_person import FindPerson
from flows.tools.search_memory import SearchMemory

TOOLS: dict[str, Tool] = {tool.name: tool for tool in (FindPerson(), AssignWork(), SearchMemory())}
