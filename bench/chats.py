"""The three ways to the same model that the streaming bench compares."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import websockets

SOCKET: dict[str, Any] = {"max_size": None, "open_timeout": 60, "compression": None, "ping_timeout": None}
"""Without compression, as `make run` serves it; a client that is late with reading is not cut off for that."""


@dataclass
class Figures:
    """What the chats of one round measured: seconds to the first piece, seconds in all, pieces, failures."""

    first: list[float] = field(default_factory=list)
    total: list[float] = field(default_factory=list)
    pieces: int = 0
    errors: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Site:
    """A running product and model, and the logins to use one after another."""

    web: str
    model: str
    keys: list[str]
    flow_id: int

    def key(self, number: int) -> str:
        return self.keys[number % len(self.keys)]


async def bare(site: Site, number: int, figures: Figures) -> None:
    """The baseline: the model server itself."""
    body = {"model": "bench", "stream": True, "messages": [{"role": "user", "content": "你好"}]}
    began = time.perf_counter()
    seen = 0
    async for line in _post(f"{site.model}/chat/completions", body):
        if b'"content": "' in line and b'"content": ""' not in line:  # an empty one comes with the role
            seen += 1
            if seen == 1:
                figures.first.append(time.perf_counter() - began)
    figures.pieces += seen
    figures.total.append(time.perf_counter() - began)


async def by_sse(site: Site, number: int, figures: Figures) -> None:
    """A program that reads Server-Sent Events."""
    began = time.perf_counter()
    seen, last = 0, b""
    address = f"{site.web}/api/flows/{site.flow_id}/stream"
    async for line in _post(address, {"input": f"你好 {number}"}, key=site.key(number)):
        if line.startswith(b"event: "):
            last = line
            if line == b"event: delta":
                seen += 1
                if seen == 1:
                    figures.first.append(time.perf_counter() - began)
    if last != b"event: turn.completed":
        raise RuntimeError(f"ended with {last!r}")
    figures.pieces += seen
    figures.total.append(time.perf_counter() - began)


async def by_socket(site: Site, number: int, figures: Figures) -> None:
    """A chat page, whose socket is open before the person asks."""
    headers = {"Authorization": f"Token {site.key(number)}"}
    address = f"{site.web.replace('http', 'ws')}/ws/flows/{site.flow_id}/"
    async with websockets.connect(address, additional_headers=headers, **SOCKET) as socket:
        began = time.perf_counter()
        await socket.send(json.dumps({"type": "turn.start", "input": f"你好 {number}"}))
        said: list[str] = []
        async for frame in socket:
            event = json.loads(frame)
            if event["type"] == "delta":
                said.append(event["text"])
                if len(said) == 1:
                    figures.first.append(time.perf_counter() - began)
            elif event["type"] in ("turn.completed", "turn.failed", "turn.interrupted", "error"):
                break
    if event["type"] != "turn.completed" or event["output"] != "".join(said):
        raise RuntimeError(f"ended with {event['type']}")
    figures.pieces += len(said)
    figures.total.append(time.perf_counter() - began)


async def _post(address: str, body: object, *, key: str = "") -> AsyncIterator[bytes]:
    """The lines of a streamed response. Written by hand: a client library would cost more than what is measured."""
    parts = urlsplit(address)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    data = json.dumps(body).encode()
    login = f"Authorization: Token {key}\r\n" if key else ""
    head = f"POST {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n{login}Content-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode() + data)
    try:
        status = await reader.readline()
        if b" 200 " not in status:
            raise RuntimeError(status.decode().strip())
        async for line in reader:
            yield line.strip()
    finally:
        writer.close()
