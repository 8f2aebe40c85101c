"""Node types for tests of the engine, and definitions drawn as text.

graph("start -> say -> answer", say=node("say", pieces=["你", "好"]), answer=node("answer", text="{{say.text}}"))
"""

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal

from flows import engine
from flows.definition import Definition
from flows.nodes.base import Delta, NodeCall, NodeConfig, NodeType, Output, Proposal, Result
from flows.pausing import Resume
from flows.steps import NodeFinished, NodeStarted, Step, Text
from llm.types import Chunk, Message

ARROW = re.compile(r"\s+-(?:(\w+)-)?>\s+")


class Broken(Exception):
    """A failure as a provider would report it."""

    code = "broken"
    detail = "It broke."

    def __init__(self, *, permanent: bool) -> None:
        super().__init__(self.code)
        self.permanent = permanent


FAILURES = {
    "passing": lambda: Broken(permanent=False),
    "permanent": lambda: Broken(permanent=True),
    "unexpected": lambda: ZeroDivisionError("a person's words"),
    "cancelled": asyncio.CancelledError,
}


class SayConfig(NodeConfig):
    pieces: tuple[str, ...] = ()
    yields: int = 0
    """Times that other nodes may go on before each piece."""
    failure: Literal["", "passing", "permanent", "unexpected", "cancelled"] = ""
    failures: int = 10**9
    """Attempts that fail, behind the pieces; later ones succeed."""


class Say(NodeType):
    """Says its pieces, then fails or gives `text`. Counts its attempts."""

    name = "say"
    fields = ("text",)
    config = SayConfig

    def __init__(self) -> None:
        self.attempts = 0

    async def run(self, call: NodeCall) -> AsyncGenerator[Output, None]:
        self.attempts += 1
        for piece in call.config.pieces:
            for _ in range(call.config.yields):
                await asyncio.sleep(0)
            yield Delta(piece)
        if call.config.failure and self.attempts <= call.config.failures:
            raise FAILURES[call.config.failure]()
        yield Result({"text": "".join(call.config.pieces)})


class ForkConfig(NodeConfig):
    take: Literal["yes", "no"] = "yes"


class Fork(NodeType):
    """Takes one of two branches."""

    name = "fork"
    config = ForkConfig

    def branches_of(self, config: Any) -> tuple[str | None, ...]:
        return ("yes", "no")

    async def run(self, call: NodeCall) -> AsyncGenerator[Output, None]:
        yield Result(branch=call.config.take)


class Meet(NodeType):
    """Goes on only when two nodes of the type run at the same time."""

    name = "meet"
    timeout = 10.0

    def __init__(self) -> None:
        self.barrier = asyncio.Barrier(2)

    async def run(self, call: NodeCall) -> AsyncGenerator[Output, None]:
        await self.barrier.wait()
        yield Result()


class Hang(NodeType):
    """Never ends by itself; says whether it was begun and whether it was let go."""

    name = "hang"

    def __init__(self) -> None:
        self.begun, self.let_go = asyncio.Event(), asyncio.Event()

    async def run(self, call: NodeCall) -> AsyncGenerator[Output, None]:
        try:
            self.begun.set()
            await asyncio.Event().wait()
            yield Result()
        finally:
            self.let_go.set()


class AskConfig(NodeConfig):
    pieces: tuple[str, ...] = ()
    """Said before it proposes, and again when it goes on."""


class Ask(NodeType):
    """Proposes a card, then gives what was answered. With `at_once` it never pauses: it knows the answer."""

    name = "ask"
    fields = ("text",)
    config = AskConfig

    def __init__(self) -> None:
        self.at_once = False

    async def run(self, call: NodeCall) -> AsyncGenerator[Output, None]:
        for piece in call.config.pieces:
            yield Delta(piece)
        said = "".join(call.config.pieces)
        if call.answer is None and not self.at_once:
            yield Proposal("ask", {"node": call.node_id}, f"?{call.node_id}")
            return
        answered = call.answer.fields["text"] if call.answer else f"!{call.node_id}"
        yield Result({"text": f"{said}{answered}"})


def node(kind: str, **config: Any) -> dict[str, Any]:
    return {"type": kind, "config": config}


def graph(*paths: str, **nodes: Mapping[str, Any]) -> Definition:
    """A definition from paths such as `start -> fork -yes-> answer`, with one keyword for each node but start."""
    nodes = {"start": node("start")} | nodes
    edges = []
    for path in paths:
        source, *rest = ARROW.split(path.strip())
        for branch, target in zip(rest[::2], rest[1::2], strict=True):
            edges.append({"source": source, "target": target, "branch": branch})
            source = target
    return Definition.parse({"nodes": [{"id": name, **values} for name, values in nodes.items()], "edges": edges})


@dataclass
class ScriptedModel:
    """What a node that talks to a model is given: fixed pieces, and a note of what was asked."""

    pieces: tuple[str, ...] = ("你", "好")
    hold: asyncio.Event | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    closed: bool = False

    def prompt(self, *, system: str, words: str, answering: bool, spare: int = 0) -> tuple[Message, ...]:
        self.asked.append({"system": system, "words": words, "answering": answering})
        return (Message("user", words),)

    async def stream(self, messages: tuple[Message, ...], **options: Any) -> AsyncIterator[Chunk]:
        try:
            for piece in self.pieces:
                yield Chunk(text=piece)
                if self.hold:
                    await self.hold.wait()
        finally:
            self.closed = True


async def walked(
    definition: Definition, *, model: Any = None, working: Any = None, resume: Resume | None = None, **inputs: str
) -> list[Step]:
    """Every step of a run, which must end within a few seconds."""
    given = {"input": "你好"} | inputs
    run = engine.run(definition, inputs=given, conversing=model, working=working, resume=resume)
    async with asyncio.timeout(20), aclosing(run) as steps:
        return [step async for step in steps]


def output(steps: list[Step]) -> str:
    return "".join(step.text for step in steps if isinstance(step, Text))


def started(steps: list[Step]) -> list[str]:
    return [step.node_id for step in steps if isinstance(step, NodeStarted)]


def finished(steps: list[Step]) -> dict[str, str]:
    """The nodes that ended, with the code of the failure that was caught, in the order they did."""
    return {step.node_id: step.error for step in steps if isinstance(step, NodeFinished)}
