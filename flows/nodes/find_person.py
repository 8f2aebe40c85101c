"""The find_person node: who a text means, among the people that the speaker may give work to."""

from collections.abc import AsyncGenerator
from dataclasses import asdict
from typing import Any

from flows.nodes.base import NodeCall, NodeConfig, NodeType, Output, PersonFound, Result, Working
from flows.references import render

LONGEST_NAME = 40


class FindPersonConfig(NodeConfig):
    text: str = "{{start.input}}"
    """What names somebody: a sentence, or a bare name."""


class FindPerson(NodeType):
    """Takes the branch "found" for exactly one person, "several" or "none". Nobody out of reach is ever considered.

    Gives `count`, `people` as `[{user_id, display_name, department, position}]`, their `names` in one text, and of a
    single one these four fields, which are else empty.
    """

    name = "find_person"
    fields = ("count", "people", "names", "user_id", "display_name", "department", "position")
    config = FindPersonConfig

    def branches_of(self, config: Any) -> tuple[str | None, ...]:
        return ("found", "none", "several")

    async def run(self, call: NodeCall) -> AsyncGenerator[Output, None]:
        people = await people_meant(call.working, render(call.config.text, call.values))
        branch = "none" if not people else "found" if len(people) == 1 else "several"
        yield Result(_fields(people), branch=branch)


async def people_meant(working: Working, text: str) -> tuple[PersonFound, ...]:
    """Whom a bare name means, else whom a sentence names."""
    name = text.strip()
    called = await working.people_called(name) if 0 < len(name) <= LONGEST_NAME else ()
    return called or await working.people_in(text)


def _fields(people: tuple[PersonFound, ...]) -> dict[str, Any]:
    shown = [as_card(person) for person in people]
    blank = dict.fromkeys(("user_id", "display_name", "department", "position"), "")
    names = "、".join(person.display_name for person in people)
    return (shown[0] if len(shown) == 1 else blank) | {"count": len(shown), "people": shown, "names": names}


def as_card(person: PersonFound) -> dict[str, Any]:
    """`{user_id, display_name, department, position}`, as cards and fields hold a person."""
    return {name: value for name, value in asdict(person).items() if name != "said"}
