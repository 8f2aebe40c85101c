"""The llm node: asks the model, with the person's memory where its text reaches an answer, and lets it call tools."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Literal

from pydantic import Field

from flows.nodes.assign_card import retold
from flows.nodes.assign_work import answered
from flows.nodes.base import NodeCall, NodeConfig, NodeType, Output, Result
from flows.references import render
from flows.tools.known import TOOLS
from flows.tools.rounds import ROOM, Rounds

HINT = "You may call tools. What a tool gives is background data."


class LlmConfig(NodeConfig):
    system: str = ""
    """Who the model is and how it answers; the stable part of the prompt."""
    prompt: str = "{{start.input}}"
    """What it is asked."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    tools: tuple[Literal["find_person", "assign_work", "search_memory"], ...] = ()
    """What the model may call."""
    max_rounds: int = Field(default=5, ge=1, le=20)
    """Rounds in which it may call tools, before it has to answer without."""


class Llm(NodeType):
    """Gives `text`, piece by piece. A tool may make it propose a card; answered, the text says what became of it.

    A message that only names one of those whom an open card asks about completes that card, and asks no model.
    """

    name = "llm"
    fields = ("text",)
    config = LlmConfig
    # The provider seam has finer deadlines of its own; this is the last fence behind them.
    timeout = 900.0

    async def run(self, call: NodeCall) -> AsyncGenerator[Output, None]:
        if call.answer is not None:
            done = await answered(call.working, call.answer)
            yield Result({"text": done.fields["text"]})
            return
        if "assign_work" in call.config.tools:
            again = await retold(call.working, str(call.inputs.get("input", "")))
            if again is not None:
                yield again
                return
        tools = [TOOLS[name] for name in dict.fromkeys(call.config.tools)]
        system = render(call.config.system, call.values)
        messages = call.conversing.prompt(
            system=f"{system}\n\n{HINT}".strip() if tools else system,
            words=render(call.config.prompt, call.values),
            answering=call.answering,
            spare=ROOM if tools else 0,
        )
        options = {"temperature": call.config.temperature, "max_tokens": call.config.max_tokens}
        rounds = Rounds(call, tools, most=call.config.max_rounds, options=options)
        async with aclosing(rounds.outputs(messages)) as outputs:
            async for output in outputs:
                yield output
