"""Asking a model in a test."""

from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import llm
from llm.profile import Profile
from llm.types import ChatRequest, Chunk, Message


def question(text: str = "你好", **options: Any) -> ChatRequest:
    return ChatRequest((Message("user", text),), **options)


async def chunks(profile: Profile, request: ChatRequest | None = None) -> list[Chunk]:
    """The whole stream of an answer."""
    async with aclosing(llm.stream(request or question(), profile=profile)) as stream:
        return [chunk async for chunk in stream]


def text_of(pieces: Sequence[Chunk]) -> str:
    return "".join(piece.text for piece in pieces)
