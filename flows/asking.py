"""One whole answer of the model for a node that decides or reads: nothing of it is said to the person."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from llm.thinking import split_unopened
from llm.types import Chunk, Usage

NO_WORDS = "…"
"""In the place of an answer without words, when the question goes out again."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the model wrote, without its thinking, and the tokens that it took."""

    text: str
    usage: Usage | None = None
    was_cut: bool = False


async def whole(stream: AsyncGenerator[Chunk, None]) -> Said:
    """Waits for the end of one answer. Stopping the node stops the model."""
    text: list[str] = []
    usage, finish_reason = None, ""
    async with aclosing(stream) as chunks:
        async for chunk in chunks:
            text.append(chunk.text)
            usage, finish_reason = chunk.usage or usage, chunk.finish_reason or finish_reason
    return Said(split_unopened("".join(text))[1], usage, finish_reason == "length")


def together(one: Usage | None, other: Usage | None) -> Usage | None:
    """The tokens of two calls; of one alone where the other counted none."""
    if one is None or other is None:
        return one or other
    return Usage(
        prompt_tokens=one.prompt_tokens + other.prompt_tokens,
        completion_tokens=one.completion_tokens + other.completion_tokens,
        estimated=one.estimated or other.estimated,
    )
