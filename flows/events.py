"""The events of a turn: numbered, typed, kept while the turn runs and handed to whoever listens in this process.

Each event has two numbers. Listeners that show pages get every event; programs get none of the rendered blocks.
Both see numbers that rise by one from 1, so an event is numbered once with the blocks and once without.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

TERMINAL = frozenset({"turn.completed", "turn.stopped", "turn.failed", "turn.interrupted"})
RENDERED = frozenset({"block"})
"""Events that only pages get."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event: `page_id` numbers it among all events, `plain_id` among those that programs get."""

    page_id: int
    plain_id: int
    turn_id: UUID
    type: str
    data: dict[str, Any]

    @property
    def is_terminal(self) -> bool:
        return self.type in TERMINAL

    def number(self, *, html: bool) -> int:
        return self.page_id if html else self.plain_id

    def frame(self, *, html: bool) -> dict[str, Any]:
        """The event as it is sent: `{id, turn_id, type, …}`."""
        data = self.data if html else {key: value for key, value in self.data.items() if key != "html"}
        return {"id": self.number(html=html), "turn_id": str(self.turn_id), "type": self.type, **data}


class TurnLog:
    """All events of one turn so far. Listeners hold a place in it, so a slow one holds up nobody.

    It belongs to one event loop. `user_id` says whose turn it is, in the process that runs it.
    """

    def __init__(self, turn_id: UUID, *, user_id: int | None = None) -> None:
        self.turn_id, self.user_id = turn_id, user_id
        self.events: list[Event] = []
        self._changed = asyncio.Event()

    @property
    def is_closed(self) -> bool:
        return bool(self.events) and self.events[-1].is_terminal

    @property
    def text(self) -> str:
        """The pieces of the answer so far, joined."""
        return "".join(event.data["text"] for event in self.events if event.type == "delta")

    def emit(self, kind: str, /, **data: Any) -> Event:
        """Numbers a new event and wakes the listeners."""
        last = self.events[-1] if self.events else None
        page_id, plain_id = (last.page_id, last.plain_id) if last else (0, 0)
        event = Event(page_id + 1, plain_id + (kind not in RENDERED), self.turn_id, kind, data)
        self.add(event)
        return event

    def add(self, event: Event) -> None:
        """Takes the next event. Any other is passed over: here already, or behind a gap that nothing can fill."""
        if self.is_closed or event.page_id != len(self.events) + 1:
            return
        self.events.append(event)
        self._changed.set()
        self._changed = asyncio.Event()

    async def follow(self, *, after: int = 0, html: bool = True) -> AsyncGenerator[Event, None]:
        """Every event with a number above `after`, those to come included, up to the terminal one."""
        place = 0
        while True:
            changed = self._changed
            while place < len(self.events):
                event = self.events[place]
                place += 1
                wanted = html or event.type not in RENDERED
                if wanted and (event.number(html=html) > after or event.is_terminal):
                    yield event
                if event.is_terminal:
                    return
            await changed.wait()
