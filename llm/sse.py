"""Server-sent events of the chat protocol: bytes in, JSON objects out."""

import json
from collections.abc import Iterator
from typing import Any

import orjson
import structlog

logger = structlog.get_logger(__name__)

Event = dict[str, Any]


class EventDecoder:
    """Cuts a byte stream into events; `done` once the closing `[DONE]` was read.

    The protocol puts each event on one `data:` line, so that comments, names and blank lines carry nothing.
    """

    def __init__(self) -> None:
        self.done = False
        self._unfinished = b""

    def feed(self, block: bytes) -> Iterator[Event]:
        """The events that `block` completes. What follows `[DONE]` is not read."""
        *lines, self._unfinished = (self._unfinished + block).split(b"\n")
        return self._events(lines)

    def end(self) -> Iterator[Event]:
        """The event of a last line that no line end closed."""
        last, self._unfinished = self._unfinished, b""
        return self._events([last])

    def _events(self, lines: list[bytes]) -> Iterator[Event]:
        for line in lines:
            if not line.startswith(b"data:"):
                continue
            payload = line[5:].strip()
            if payload == b"[DONE]":
                self.done = True
                return
            event = parse(payload)
            if event is not None:
                yield event


class WholeDecoder:
    """Takes the answer of an endpoint that was asked to stream and sent one JSON object instead."""

    def __init__(self) -> None:
        self.done = False
        self._blocks: list[bytes] = []

    def feed(self, block: bytes) -> Iterator[Event]:
        """Nothing yet: the object is whole only at the end."""
        self._blocks.append(block)
        return iter(())

    def end(self) -> Iterator[Event]:
        """The one event that the body is."""
        self.done = True
        event = parse(b"".join(self._blocks))
        return iter(() if event is None else (event,))


def parse(payload: bytes) -> Event | None:
    """The JSON object in `payload`, broken UTF-8 replaced; None, and a line in the log, for anything else."""
    try:
        event = orjson.loads(payload)
    except orjson.JSONDecodeError:
        event = _parse_tolerantly(payload)
    if isinstance(event, dict):
        return event
    if payload:
        logger.warning("model sent an event that cannot be read", bytes=len(payload))
    return None


def _parse_tolerantly(payload: bytes) -> object:
    """What the strict parser refuses and we can use: broken UTF-8, half surrogates, control characters."""
    try:
        return json.loads(payload.decode(errors="replace"), strict=False)
    except ValueError:
        return None
