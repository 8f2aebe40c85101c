"""Running one node by itself, against a model that answers what a test wrote down."""

from collections import deque
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from flows.nodes import NODE_TYPES
from flows.nodes.base import DueFound, NodeCall, Output, Result
from llm.types import Chunk, Message, Usage
from profiles.dates import due

USAGE = Usage(10, 5)


@dataclass
class Replies:
    """A model with one scripted answer a call: a text, or the last chunk as it stands. Notes what it was asked."""

    answers: deque[Any]
    asked: list[tuple[Message, ...]] = field(default_factory=list)
    options: list[dict[str, Any]] = field(default_factory=list)
    answering: list[bool] = field(default_factory=list)

    def prompt(self, *, system: str, words: str, answering: bool, spare: int = 0) -> tuple[Message, ...]:
        self.answering.append(answering)
        return (Message("system", system), Message("user", words))

    async def stream(self, messages: tuple[Message, ...], **options: Any) -> AsyncIterator[Chunk]:
        self.asked.append(messages)
        self.options.append(options)
        answer = self.answers.popleft()
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, str):
            for piece in answer.splitlines(keepends=True):
                yield Chunk(text=piece)
            answer = Chunk(usage=USAGE, finish_reason="stop")
        yield answer


@dataclass
class At:
    """Somebody who speaks at one moment, as far as dates go."""

    now: datetime

    async def due_in(self, text: str) -> DueFound | None:
        found = due(text, now=self.now)
        return found and DueFound(found.at, found.words)


def replies(*answers: Any) -> Replies:
    return Replies(deque(answers))


async def outputs(kind: str, model: Any, *, said: str = "你好", working: Any = None, **config: Any) -> list[Output]:
    """Everything that a node yields when the person said this."""
    values: Mapping[str, Mapping[str, Any]] = {"start": {"input": said}}
    node = NODE_TYPES[kind]
    call = NodeCall(
        node_id="node",
        config=node.config.model_validate(config),
        values=values,
        inputs=values["start"],
        answering=False,
        conversing=model,
        working=working,
    )
    return [output async for output in node.run(call)]


async def result(kind: str, model: Any, **more: Any) -> Result:
    """The one thing that a silent node yields."""
    (output,) = await outputs(kind, model, **more)
    assert isinstance(output, Result)
    return output
