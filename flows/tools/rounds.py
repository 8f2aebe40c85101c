"""Talking with a model that may call tools: it speaks or calls, is told what the calls gave, and speaks again.

It ends, whatever the model does. There are so many rounds; a call that was made before is not made again; after the
last round, or two such repeats, the model is asked once more without tools.
"""

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

import structlog
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from pydantic import ValidationError

from flows.asking import together
from flows.nodes.base import Delta, NodeCall, Output, Proposal, Reasoning, Result, ToolAnswered, ToolCalled
from flows.tools.base import Given, Tool
from llm import tokens
from llm.loose_json import object_in
from llm.text import safe
from llm.types import Chunk, Message, ToolCall, Usage
from memory.prompts import Block, fenced

logger = structlog.get_logger(__name__)
KIND = "tool"
ROOM = 3_000
"""Tokens that the results of one node may take together; so much of the prompt is kept free for them."""
RESULT_TOKENS = 700
"""Of one result; a longer one is shortened."""
MOST_CALLS = 5
"""Calls of one round that are made."""
MOST_REPEATS = 2
GAP = "\n\n"
"""Between what the model said before a call and what it says after it."""
UNKNOWN = "unknown"
"""In events, for a tool that there is not: a model may write anything there."""
ONE_CARD = gettext_noop("Only one card is shown at a time. Ask for the other one once this is answered.")
NO_MORE = "No more tools can be called. Answer now, with what you know."


@dataclass(slots=True)
class _Heard:
    """What one call of the model brought."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None

    def take(self, chunk: Chunk) -> None:
        self.text.append(chunk.text)
        self.reasoning.append(chunk.reasoning)
        self.calls = chunk.tool_calls or self.calls
        self.usage = chunk.usage or self.usage


class Rounds:
    """One talk of one node. `outputs` gives what the model says and does, and at the end the node's one Result."""

    def __init__(self, call: NodeCall, tools: Sequence[Tool], *, most: int, options: Mapping[str, Any]) -> None:
        self._call, self._tools, self._most, self._options = call, {tool.name: tool for tool in tools}, most, options
        self._said: list[str] = []
        self._usage: Usage | None = None
        self._made: set[str] = set()
        self._ids: set[str] = set()
        self._repeats = 0
        self._room = ROOM

    async def outputs(self, messages: tuple[Message, ...]) -> AsyncGenerator[Output, None]:
        """Begins with these messages. A Proposal stands in the place of the Result."""
        number = 0
        while True:
            heard = _Heard()
            is_last = self._is_last(number)
            async with aclosing(self._listen(messages, heard, with_tools=not is_last)) as said:
                async for output in said:
                    yield output
            self._usage = together(self._usage, heard.usage)
            if is_last or not heard.calls:
                break
            number += 1
            calls = self._named_apart(heard.calls)
            results: list[Message] = []
            async for output in self._make(calls, results):
                yield output
                if isinstance(output, Proposal):
                    return
            messages = (*messages, _asked(heard, calls), *self._told(results, is_last=self._is_last(number)))
        yield Result({"text": "".join(self._said)}, usage=self._usage)

    def _is_last(self, number: int) -> bool:
        """Whether the model is asked without tools in this round."""
        return not self._tools or number >= self._most or self._repeats >= MOST_REPEATS

    async def _listen(
        self, messages: tuple[Message, ...], heard: _Heard, *, with_tools: bool
    ) -> AsyncGenerator[Output, None]:
        """What the model says, as it says it."""
        tools = {"tools": tuple(tool.spec() for tool in self._tools.values())} if with_tools else {}
        # Closed at once when the node is cancelled, so that a stop reaches the model.
        async with aclosing(self._call.conversing.stream(messages, **self._options, **tools)) as chunks:
            async for chunk in chunks:
                heard.take(chunk)
                if chunk.reasoning:
                    yield Reasoning(chunk.reasoning)
                if chunk.text:
                    piece = self._gap(heard) + chunk.text
                    self._said.append(piece)
                    yield Delta(piece)

    def _gap(self, heard: _Heard) -> str:
        """What stands before the first piece of a round in which the model goes on speaking."""
        begins = sum(map(bool, heard.text)) == 1
        return GAP if begins and self._said and not self._said[-1].endswith("\n") else ""

    def _named_apart(self, calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
        """The calls with ids that differ, in one round and from round to round: some endpoints number each from 1."""
        apart: list[ToolCall] = []
        for call in calls:
            if call.id in self._ids:
                call = replace(call, id=f"call_{len(self._ids) + 1}_{len(apart) + 1}")
            self._ids.add(call.id)
            apart.append(call)
        return tuple(apart)

    async def _make(self, calls: tuple[ToolCall, ...], results: list[Message]) -> AsyncGenerator[Output, None]:
        """Makes the calls one after the other; what they gave is added to `results`."""
        for number, call in enumerate(calls):
            name = call.name if call.name in self._tools else UNKNOWN
            yield ToolCalled(name)
            given = await self._given(call) if number < MOST_CALLS else Given("Too many calls at once.", ok=False)
            yield ToolAnswered(name, ok=not isinstance(given, Given) or given.ok)
            if isinstance(given, Proposal):
                left = any(other.name == call.name for other in calls[number + 1 :])
                text = f"{given.text}\n\n{_(ONE_CARD)}" if left else given.text
                yield replace(given, text=text, usage=together(self._usage, given.usage))
                return
            results.append(Message("tool", self._fenced(name, given.text), tool_call_id=call.id))

    async def _given(self, call: ToolCall) -> Given | Proposal:
        """What one call gave. Whatever is wrong with it is told to the model, and never ends the run."""
        tool = self._tools.get(call.name)
        if tool is None:
            return Given(f"There is no such tool. There are: {', '.join(self._tools)}.", ok=False)
        written = object_in(call.arguments)
        if written is None:
            return Given("The arguments are no JSON object.", ok=False)
        key = f"{call.name} {json.dumps(written, sort_keys=True, default=str)}"
        if key in self._made:
            self._repeats += 1
            return Given("You have asked this already; what it gave stands above.", ok=False)
        self._made.add(key)
        try:
            return await tool.run(self._call, tool.arguments.model_validate(written))
        except ValidationError as error:
            faults = (f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
            return Given(f"The arguments do not fit. {'; '.join(faults)}.", ok=False)
        except Exception as error:  # noqa: BLE001  # whatever a tool meets, the answer can be given without it
            logger.error("tool failed", node_id=self._call.node_id, tool=tool.name, error=type(error).__name__)
            return Given("The tool failed. Answer without it.", ok=False)

    def _fenced(self, name: str, text: str) -> str:
        """A result as data, shortened to what is left of the room."""
        text = tokens.cut(safe(text), min(RESULT_TOKENS, max(self._room, 0)))
        self._room -= tokens.count(text)
        return fenced([Block(KIND, f"[{name}]", text)])

    def _told(self, results: Sequence[Message], *, is_last: bool) -> list[Message]:
        """The results as they go back to the model; before the last round it is told that this is the last."""
        *others, last = results
        return [*others, replace(last, content=f"{last.content}\n\n{NO_MORE}")] if is_last else [*others, last]


def _asked(heard: _Heard, calls: Sequence[ToolCall]) -> Message:
    """The model's own message with its calls. Some endpoints refuse arguments that are no JSON: those go empty."""
    clean = tuple(
        replace(call, arguments=json.dumps(object_in(call.arguments) or {}, ensure_ascii=False)) for call in calls
    )
    text, reasoning = "".join(heard.text), "".join(heard.reasoning)
    return Message("assistant", text, tool_calls=clean, reasoning=reasoning)
