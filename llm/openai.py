"""The provider for any OpenAI-compatible endpoint, and the one place where the `openai` package is used.

The package makes the request; the stream is read here. Its own reader stops at broken UTF-8 and spends
several times as much on a chunk (docs/models.md has the figures). Its own retries are off: those are the work
of `llm.attempts`.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2
import structlog
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, DefaultAsyncHttpxClient

from llm import quirks
from llm.chunks import Assembler
from llm.deadlines import Clock
from llm.errors import ContextTooLong, ModelMisconfigured, ModelRejected, ModelTimeout, ModelUnavailable
from llm.payload import payload
from llm.profile import Profile
from llm.refusals import refusal, refusal_in_stream, seconds_to_wait
from llm.sse import Event, EventDecoder, WholeDecoder
from llm.tokens import estimate
from llm.types import ChatRequest, Chunk

logger = structlog.get_logger(__name__)

NO_KEY = "none"
"""Sent to endpoints that want no key: the package insists on one."""

EVENTS_IN_A_ROW = 8
"""Of one block, before everybody else on the loop has a turn: a process that is late reads hundreds of them at once."""


async def stream(request: ChatRequest, *, profile: Profile, clock: Clock) -> AsyncGenerator[Chunk]:
    """See `llm.base`."""
    parts = Assembler()
    response = await _open(request, profile, clock)
    try:
        body = _Body(response, clock)
        while not body.ended:
            for number, event in enumerate(await body.events(), 1):
                if number % EVENTS_IN_A_ROW == 0:
                    await asyncio.sleep(0)
                pieces = parts.pieces
                chunk = _feed(parts, event)
                if parts.pieces > pieces:
                    clock.piece()
                if chunk:
                    yield chunk
    except (ModelUnavailable, ModelTimeout):
        if not parts.finished:
            raise
        # The answer is whole; only the goodbye was lost.
    finally:
        await response.aclose()
    *held_back, last = parts.end()
    for chunk in held_back:
        yield chunk
    usage = parts.usage or estimate(request.messages, parts.written)
    yield replace(last, usage=usage, model=profile.model)


def prepare() -> None:
    """Builds the connection pool of the running event loop, which takes about 70 ms."""
    _connections()


async def aclose() -> None:
    connections = _by_loop.pop(asyncio.get_running_loop(), None)
    if connections:
        await connections.http.aclose()


@dataclass(slots=True)
class _Connections:
    """What one event loop holds: one pool for all endpoints, and a light client for each."""

    http: httpx2.AsyncClient
    clients: dict[tuple[str, str], AsyncOpenAI] = field(default_factory=dict)


_by_loop: dict[asyncio.AbstractEventLoop, _Connections] = {}
"""A connection belongs to the loop it was made in: used in another one it fails."""


def _connections() -> _Connections:
    loop = asyncio.get_running_loop()
    if loop not in _by_loop:
        for closed in [known for known in list(_by_loop) if known.is_closed()]:
            del _by_loop[closed]
        # A redirect would carry the prompt to another address than the one set up.
        _by_loop[loop] = _Connections(DefaultAsyncHttpxClient(follow_redirects=False))
    return _by_loop[loop]


def _client(profile: Profile) -> AsyncOpenAI:
    if not profile.api_key.isascii():
        raise ModelMisconfigured  # such a key is a paste gone wrong, and fits no HTTP header
    connections = _connections()
    endpoint = profile.base_url, profile.api_key
    if endpoint not in connections.clients:
        connections.clients[endpoint] = AsyncOpenAI(
            base_url=profile.base_url,
            api_key=profile.api_key or NO_KEY,
            http_client=connections.http,
            max_retries=0,
        )
    return connections.clients[endpoint]


async def _open(request: ChatRequest, profile: Profile, clock: Clock) -> httpx2.Response:
    """The response of an accepted request, its body not yet read. Gives up fields the endpoint refuses."""
    body = payload(request, profile)
    if not body["messages"]:
        raise ModelRejected
    refused = quirks.known(profile)
    while True:
        adapted = quirks.without(body, refused)
        try:
            response = await _post(profile, adapted, clock)
        except APIStatusError as error:
            said = str(error.body)
            problem = refusal(error.status_code, said, seconds_to_wait(error.response.headers))
            unwanted = quirks.refused_field(said, adapted, refused) if error.status_code in (400, 422) else None
            if unwanted is None or isinstance(problem, ContextTooLong):
                raise problem from None  # what the endpoint wrote may quote the prompt
            refused |= {unwanted}
            continue
        if refused != quirks.known(profile):
            quirks.remember(profile, refused)
        return response


async def _post(profile: Profile, body: dict[str, Any], clock: Clock) -> httpx2.Response:
    patience = httpx2.Timeout(None, connect=clock.connect)  # all other waiting is the clock's
    try:
        call = _client(profile).post(
            "/chat/completions", body=body, cast_to=httpx2.Response, options={"timeout": patience}, stream=True
        )
        return await clock.within(call)
    except APIConnectionError as error:
        wrong_address = isinstance(error.__cause__, httpx2.UnsupportedProtocol | httpx2.LocalProtocolError)
        raise (ModelMisconfigured if wrong_address else ModelUnavailable) from error
    except httpx2.InvalidURL:
        raise ModelMisconfigured from None


class _Body:
    """The body of an accepted response, read block by block; `ended` once the endpoint said that it is."""

    def __init__(self, response: httpx2.Response, clock: Clock) -> None:
        kind = response.headers.get("content-type", "")
        if "html" in kind:
            raise ModelMisconfigured  # a web page: the address is not that of an API
        self._decoder = WholeDecoder() if "json" in kind else EventDecoder()
        self._blocks = response.aiter_bytes()
        self._clock = clock

    @property
    def ended(self) -> bool:
        return self._decoder.done

    async def events(self) -> list[Event]:
        """The events of the next block. Raises ModelUnavailable when the connection breaks off too early."""
        try:
            block = await self._clock.within(anext(self._blocks, None))
        except httpx2.RequestError as error:
            raise ModelUnavailable from error
        events = list(self._decoder.end() if block is None else self._decoder.feed(block))
        if block is None and not events and not self.ended:
            raise ModelUnavailable
        return events


def _feed(parts: Assembler, event: Event) -> Chunk | None:
    if not event.get("choices") and (event.get("error") or event.get("object") == "error"):
        raise refusal_in_stream(event.get("error") or event)
    try:
        return parts.feed(event)
    except (AttributeError, TypeError, ValueError):
        logger.warning("model sent an event of another protocol", fields=len(event))
        return None
