"""Turns as Server-Sent Events: the frame's `id:` and `event:` carry the event's number and type."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any
from uuid import UUID

import orjson
from django.db import connection
from django.http import StreamingHttpResponse
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from flows.listening import follow, with_pauses
from flows.sockets import PING_SECONDS
from memory.person import Person


class EventStreamRenderer(JSONRenderer):
    """Lets a client ask for text/event-stream; an error before the stream is still JSON."""

    media_type = "text/event-stream"
    format = "event-stream"


def stream_response(request: Request, turn_id: UUID, *, after: int = 0) -> StreamingHttpResponse:
    """The events of a turn above `after`. With `?html=1` rendered blocks come too."""
    html = request.query_params.get("html") in ("1", "true")
    # The request would keep its connection until the stream ends, and a few streams would use up the pool.
    connection.close()
    response = StreamingHttpResponse(
        _frames(request.user, turn_id, after=after, html=html),
        content_type="text/event-stream; charset=utf-8",
    )
    response["Cache-Control"] = "no-cache, no-transform"
    response["Content-Encoding"] = "identity"  # a compressing proxy would hold the pieces back
    response["X-Accel-Buffering"] = "no"
    return response


async def _frames(user: Person, turn_id: UUID, *, after: int, html: bool) -> AsyncIterator[bytes]:
    events = with_pauses(follow(user, turn_id, after=after, html=html), seconds=PING_SECONDS)
    async with aclosing(events):  # a client that leaves is listened for no longer
        async for event in events:
            if event is None:
                yield b'event: ping\ndata: {"type":"ping"}\n\n'
            else:
                yield _frame(event.frame(html=html))


def _frame(data: dict[str, Any]) -> bytes:
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (data["id"], data["type"].encode(), orjson.dumps(data))
