"""Reading Server-Sent Events while they come."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from tests.people import ENDS, Person


@dataclass
class EventStream:
    """An open stream. `response` has its status and headers."""

    response: httpx2.Response

    def __post_init__(self) -> None:
        self._lines = self.response.iter_lines()

    def frame(self) -> dict[str, str]:
        """The next frame's fields as they stand there, a ping included."""
        fields: dict[str, str] = {}
        for line in self._lines:
            if not line:
                return fields
            name, _, value = line.partition(": ")
            fields[name] = value
        raise EOFError

    def until(self, *kinds: str) -> list[dict[str, Any]]:
        """Every event up to the first of these types, pings left out."""
        events: list[dict[str, Any]] = []
        while not events or events[-1]["type"] not in kinds:
            frame = self.frame()
            if frame["event"] != "ping":
                events.append(json.loads(frame["data"]))
                assert (frame["id"], frame["event"]) == (str(events[-1]["id"]), events[-1]["type"])
        return events

    def to_end(self) -> list[dict[str, Any]]:
        """Every event up to the end of the turn, behind which nothing may come."""
        events = self.until(*ENDS)
        assert not [line for line in self._lines if line]
        return events


@contextmanager
def streaming(person: Person, method: str, path: str, **options: Any) -> Iterator[EventStream]:
    with person.api.stream(method, path, **options) as response:
        yield EventStream(response)


def replayed(person: Person, turn_id: object, *, html: bool = False, after: int | None = None) -> list[dict[str, Any]]:
    """The events of a turn from its own address."""
    headers = {} if after is None else {"Last-Event-ID": str(after)}
    query = {"html": "1"} if html else {}
    with streaming(person, "GET", f"/api/turns/{turn_id}/events", params=query, headers=headers) as stream:
        return stream.to_end()
