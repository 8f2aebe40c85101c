"""The answer node: the text that the person reads."""

from collections.abc import AsyncGenerator

from flows.nodes.base import NodeCall, NodeConfig, NodeType, Output, Result
from flows.references import render


class AnswerConfig(NodeConfig):
    text: str
    """A template; usually one reference to the text of an llm node."""


class Answer(NodeType):
    """Gives `text`. The engine streams it from the llm node it refers to where it can."""

    name = "answer"
    fields = ("text",)
    config = AnswerConfig

    async def run(self, call: NodeCall) -> AsyncGenerator[Output, None]:
        yield Result({"text": render(call.config.text, call.values)})
