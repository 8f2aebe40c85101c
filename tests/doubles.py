"""A scripted model: a real HTTP server of the chat protocol, with a queue of answers and a record of calls.

    with ModelServer() as server:
        server.enqueue(Answer("你好"), Answer(status=429, headers={"Retry-After": "0"}))
        ...  # talk to server.base_url
        server.requests[0].body["messages"]

With an empty queue it echoes the last user message. It runs in a thread of its own; any other may use it.
"""

import asyncio
import json
import re
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Self

MODEL = "scripted-model"
LETTERS = "abcdefgh"
"""What `spelled` counts."""
DONE = b"data: [DONE]\n\n"
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


@dataclass(frozen=True)
class Answer:
    """One scripted answer.

    text, reasoning   pieces, each sent as one chunk; a string is one piece
    tool_calls        complete calls `{"id", "function": {"name", "arguments"}}`, each sent as one delta
    usage             sent behind the finish reason in a chunk without choices; None: never sent
    finish_reason     None: never sent
    events            sent in place of all of the above: a dict as a `data:` line, bytes as they are
    status, error     an HTTP error with this `error` object in its body
    headers           added to the response
    delay             seconds before each piece
    hold, hold_after  waits for the event once so many pieces are sent (0: before the first token)
    cut_after         breaks the connection once so many pieces are sent
    """

    text: str | Sequence[str] = "好的。"
    reasoning: str | Sequence[str] = ()
    tool_calls: Sequence[Mapping[str, Any]] = ()
    usage: Mapping[str, int] | None = field(default_factory=lambda: dict(USAGE))
    finish_reason: str | None = "stop"
    events: Sequence[Mapping[str, Any] | bytes] | None = None
    status: int = 200
    error: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    hold: threading.Event | None = None
    hold_after: int = 0
    cut_after: int | None = None

    def stream(self) -> list[bytes]:
        """The events of the streamed answer, as they go over the wire."""
        events = self._events() if self.events is None else self.events
        return [event if isinstance(event, bytes) else b"data: " + _json(event) + b"\n\n" for event in events]

    @property
    def opening(self) -> int:
        """Events before the first piece: the one that only names the role."""
        return 1 if self.events is None else 0

    def whole(self) -> bytes:
        """The body of the answer to a request that does not stream."""
        message = {
            "role": "assistant",
            "content": "".join(self.text),
            "reasoning_content": "".join(self.reasoning),
        }
        if self.tool_calls:
            message |= {"tool_calls": list(self.tool_calls)}
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        return _json({**_head("chat.completion"), "choices": [choice], "usage": self.usage})

    def _events(self) -> Iterator[Mapping[str, Any] | bytes]:
        yield chunk({"role": "assistant", "content": ""})
        for piece in _pieces(self.reasoning):
            yield chunk({"reasoning_content": piece})
        for piece in _pieces(self.text):
            yield chunk({"content": piece})
        for number, call in enumerate(self.tool_calls):
            yield chunk({"tool_calls": [{"index": number, "type": "function", **call}]})
        if self.finish_reason:
            yield chunk({}, finish_reason=self.finish_reason)
        if self.usage:
            yield {**_head("chat.completion.chunk"), "choices": [], "usage": self.usage}
        yield DONE


def chunk(delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    """One chunk of the protocol, for `Answer.events`."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {**_head("chat.completion.chunk"), "choices": [choice]}


@dataclass
class Received:
    """A request as it came. `closed_early`: its client hung up before the answer was over."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    closed_early: bool = False


class Flag(threading.Event):
    """An event that is also true or false: `assert flag` and `flag.wait(5)` both say what they seem to."""

    def __bool__(self) -> bool:
        return self.is_set()


class ModelServer:
    """The server. A context manager; `asked` is set once a request came, `closed_early` once a client hung up."""

    def __init__(self) -> None:
        self.requests: list[Received] = []
        self.asked = Flag()
        self.closed_early = Flag()
        self.default: Callable[[Mapping[str, Any]], Answer] = echo
        self.embed: Callable[[Sequence[str]], tuple[int, bytes]] = spelled
        self._queue: deque[Answer] = deque()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="model-server", daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def chats(self) -> list[Received]:
        """The requests for an answer, without those for the list of models."""
        return [request for request in self.requests if request.path.endswith("/chat/completions")]

    @property
    def embeddings(self) -> list[Received]:
        """The requests for vectors."""
        return [request for request in self.requests if request.path.endswith("/embeddings")]

    def enqueue(self, *answers: Answer) -> None:
        """Adds answers, given out in this order, one a request."""
        self._queue.extend(answers)

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=512)
        self._port = server.sockets[0].getsockname()[1]
        self._started.set()
        await self._stop.wait()
        server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves the one request of a connection. What comes behind it can only be the client hanging up."""
        try:
            received = await _read(reader)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()
            return
        self.requests.append(received)
        self.asked.set()
        answering = asyncio.create_task(self._respond(received, writer))
        hanging_up = asyncio.create_task(reader.read(1))
        await asyncio.wait((answering, hanging_up), return_when=asyncio.FIRST_COMPLETED)
        if not answering.done() or isinstance(answering.exception(), ConnectionError):
            received.closed_early = True
            self.closed_early.set()
        answering.cancel()
        hanging_up.cancel()
        await asyncio.gather(answering, hanging_up, return_exceptions=True)
        writer.close()

    async def _respond(self, received: Received, writer: asyncio.StreamWriter) -> None:
        if received.path.endswith("/models"):
            models = {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "tests"}]}
            writer.write(_response(200, _json(models)))
        elif received.path.endswith("/embeddings") and not self._queue:
            writer.write(_response(*self.embed(received.body["input"])))
        else:
            answer = self._queue.popleft() if self._queue else self.default(received.body)
            await self._answer(answer, received, writer)

    async def _answer(self, answer: Answer, received: Received, writer: asyncio.StreamWriter) -> None:
        if answer.status != 200:
            await _wait(answer.hold)
            writer.write(_response(answer.status, _json({"error": answer.error or {}}), answer.headers))
        elif not received.body.get("stream"):
            await _wait(answer.hold)
            writer.write(_response(200, answer.whole(), answer.headers))
        else:
            await self._stream(answer, writer)

    async def _stream(self, answer: Answer, writer: asyncio.StreamWriter) -> None:
        headers = {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked", **answer.headers}
        writer.write(_start(200, headers))
        for number, event in enumerate(answer.stream()):
            sent = number - answer.opening
            if sent == answer.cut_after:
                await writer.drain()
                writer.transport.abort()
                return
            if sent == answer.hold_after:
                await writer.drain()
                await _wait(answer.hold)
            if answer.delay:
                await asyncio.sleep(answer.delay)
            writer.write(b"%x\r\n%b\r\n" % (len(event), event))
            await writer.drain()
        writer.write(b"0\r\n\r\n")


def echo(body: Mapping[str, Any]) -> Answer:
    """The last user message, word by word: what the server answers when nothing is enqueued."""
    last = next((m["content"] for m in reversed(body["messages"]) if m["role"] == "user"), "")
    return Answer([word for word in re.split(r"(?<=\s)", last) if word])


def spelled(inputs: Sequence[str]) -> tuple[int, bytes]:
    """Status and body of vectors that count the letters of each input: what the server gives unless told otherwise.

    The last number counts all other characters.
    """
    counts = [[text.count(letter) for letter in LETTERS] for text in inputs]
    return 200, vectors([[*row, len(text) - sum(row)] for row, text in zip(counts, inputs, strict=True)])


def vectors(rows: Sequence[Sequence[float]], *, order: Sequence[int] | None = None) -> bytes:
    """The body of an answer with these vectors, in this order."""
    data = [{"object": "embedding", "index": place, "embedding": list(row)} for place, row in enumerate(rows)]
    data = [data[place] for place in order] if order else data
    return _json({"object": "list", "model": MODEL, "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}})


def refused(status: int, message: str) -> tuple[int, bytes]:
    """Status and body of a refusal, for `ModelServer.embed`."""
    return status, _json({"error": {"message": message}})


async def _wait(hold: threading.Event | None) -> None:
    """Waits for a thread's event without blocking the loop; 200 held streams must not need 200 threads."""
    while hold is not None and not hold.is_set():  # noqa: ASYNC110  # it is set by another thread
        await asyncio.sleep(0.005)


async def _read(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    request_line, *lines = head.strip().split("\r\n")
    method, path, _ = request_line.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    raw = await reader.readexactly(int(headers.get("content-length", 0)))
    return Received(method, path, headers, json.loads(raw) if raw else None)


def _response(status: int, body: bytes, headers: Mapping[str, str] | None = None) -> bytes:
    fixed = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    return _start(status, {**fixed, **(headers or {})}) + body


def _start(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _head(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1_700_000_000, "model": MODEL}


def _pieces(text: str | Sequence[str]) -> Sequence[str]:
    return [text] if isinstance(text, str) else text


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
