"""Looks somebody up, among the people that the speaker may give work to."""

from typing import Any

from pydantic import Field

from flows.nodes.assign_work import nobody
from flows.nodes.base import NodeCall, PersonFound
from flows.nodes.find_person import people_meant
from flows.tools.base import Arguments, Given, Tool

MOST = 10


class FindPersonArguments(Arguments):
    name: str = Field(
        min_length=1, max_length=200, description="The name as the user said it: whole, in part, a nickname, or pinyin"
    )


class FindPerson(Tool):
    """Nobody out of reach is ever named, so that no answer tells that they exist."""

    name = "find_person"
    description = (
        "Looks up a person by name, among those the user may give work to (the user and everybody who reports to "
        "them). Gives their full names, departments and positions."
    )
    arguments = FindPersonArguments

    async def run(self, call: NodeCall, arguments: Any) -> Given:
        people = await people_meant(call.working, arguments.name)
        if not people:
            return Given(nobody())
        lines = [f"- {_told(person)}" for person in people[:MOST]]
        return Given("\n".join([*lines, f"- and {len(people) - MOST} more"] if len(people) > MOST else lines))


def _told(person: PersonFound) -> str:
    place = ", ".join(part for part in (person.department, person.position) if part)
    return f"{person.display_name} ({place})" if place else person.display_name
