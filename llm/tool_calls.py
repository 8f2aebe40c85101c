"""Tool calls put together from their deltas, which endpoints send with and without index and id."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from llm.text import safe
from llm.types import ToolCall


@dataclass(slots=True)
class _Slot:
    index: int | None
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class ToolCallParts:
    """Collects the deltas of all tool calls of one answer."""

    def __init__(self) -> None:
        self._slots: list[_Slot] = []

    @property
    def written(self) -> str:
        """The names and arguments so far, for counting tokens."""
        return "".join(slot.name + "".join(slot.arguments) for slot in self._slots)

    def add(self, deltas: Iterable[Mapping[str, Any]]) -> None:
        """Takes the `tool_calls` of one delta."""
        for delta in deltas:
            function = delta.get("function") or {}
            slot = self._slot_for(delta.get("id") or "", delta.get("index"), function.get("name") or "")
            slot.id = slot.id or delta.get("id") or ""
            slot.name = slot.name or function.get("name") or ""
            arguments = function.get("arguments")
            if arguments:
                # Some endpoints send the arguments as an object instead of as text.
                slot.arguments.append(arguments if isinstance(arguments, str) else json.dumps(arguments))

    def complete(self) -> tuple[ToolCall, ...]:
        """The calls in the order they began. A call without a name cannot be made and is left out."""
        return tuple(
            ToolCall(
                id=slot.id or f"call_{number}",
                name=slot.name,
                arguments=safe("".join(slot.arguments)) or "{}",
            )
            for number, slot in enumerate(self._slots, start=1)
            if slot.name
        )

    def _slot_for(self, call_id: str, index: int | None, name: str) -> _Slot:
        """The call that a delta continues, or a new one.

        An id that was not seen before begins a call even under a known index, because some endpoints number
        every call 0. Without id and index, a name begins a call.
        """
        for slot in reversed(self._slots):
            if call_id and slot.id:
                continues = slot.id == call_id
            elif index is not None and slot.index is not None:
                continues = slot.index == index
            else:
                continues = not name or not slot.name
            if continues:
                return slot
        slot = _Slot(index=index)
        self._slots.append(slot)
        return slot
