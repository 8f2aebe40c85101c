"""The llm node: asks the model, with the person's memory where its text reaches an answer."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from pydantic import Field

from flows.nodes.base import Delta, NodeCall, NodeConfig, NodeType, Output, Reasoning, Result
from flows.references import render


class LlmConfig(NodeConfig):
    system: str = ""
    """Who the model is and how it answers; the stable part of the prompt."""
    prompt: str = "{{start.input}}"
    """What it is asked."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)


class Llm(NodeType):
    """Gives `text`, piece by piece."""

    name = "llm"
    fields = ("text",)
    config = LlmConfig
    # The provider seam has finer deadlines of its own; this is the last fence behind them.
    timeout = 900.0

    async def run(self, call: NodeCall) -> AsyncGenerator[Output, None]:
        messages = call.conversing.prompt(
            system=render(call.config.system, call.values),
            words=render(call.config.prompt, call.values),
            answering=call.answering,
        )
        text: list[str] = []
        usage = None
        options = {"temperature": call.config.temperature, "max_tokens": call.config.max_tokens}
        # Closed at once when the node is cancelled, so that a stop reaches the model.
        async with aclosing(call.conversing.stream(messages, **options)) as chunks:
            async for chunk in chunks:
                if chunk.reasoning:
                    yield Reasoning(chunk.reasoning)
                if chunk.text:
                    text.append(chunk.text)
                    yield Delta(chunk.text)
                usage = chunk.usage or usage
        yield Result({"text": "".join(text)}, usage=usage)
