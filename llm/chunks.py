"""The events of the chat protocol put together into chunks. Pure: no network, no clock, no settings."""

from collections.abc import Mapping
from typing import Any

from llm.errors import ModelEmpty, ModelRejected, ThinkingUsedUpTheAnswer
from llm.text import text_of
from llm.thinking import ThinkSplitter
from llm.tool_calls import ToolCallParts
from llm.types import Chunk, Usage


class Assembler:
    """Takes the events of one answer in order; `feed` gives what can be shown at once, `end` the rest.

    `pieces` counts the events that brought something of the answer; `finished` says that the endpoint gave
    its finish reason, after which only the usage comes.
    """

    def __init__(self) -> None:
        self.pieces = 0
        self.usage: Usage | None = None
        self._finish_reason = ""
        self._splitter = ThinkSplitter()
        self._tool_calls = ToolCallParts()
        self._written: list[str] = []
        self._answered = False

    @property
    def finished(self) -> bool:
        return bool(self._finish_reason)

    @property
    def written(self) -> str:
        """All that the model wrote, thinking and tool calls included."""
        return "".join(self._written) + self._tool_calls.written

    def feed(self, event: Mapping[str, Any]) -> Chunk | None:
        """The chunk that `event` makes; None when it brings nothing to show."""
        choice = next(iter(event.get("choices") or ()), None) or {}
        self._count(event.get("usage") or choice.get("usage"))
        self._finish_reason = choice.get("finish_reason") or self._finish_reason
        delta = choice.get("delta") or choice.get("message") or {}
        thinking, text = self._splitter.feed(text_of(delta.get("content")) + text_of(delta.get("refusal")))
        reasoning = text_of(delta.get("reasoning_content") or delta.get("reasoning")) + thinking
        calls = delta.get("tool_calls") or ()
        self._tool_calls.add(calls)
        if text or reasoning or calls or delta.get("content"):
            self.pieces += 1
        return self._shown(text, reasoning)

    def end(self) -> list[Chunk]:
        """What was held back, then the last chunk, without usage. Raises when the model gave no answer."""
        thinking, text = self._splitter.end()
        held_back = self._shown(text, thinking)
        tool_calls = self._tool_calls.complete()
        if not self._answered and not tool_calls:
            raise self._nothing()
        finish_reason = self._finish_reason or "stop"
        last = Chunk(tool_calls=tool_calls, finish_reason=finish_reason)
        return [held_back, last] if held_back else [last]

    def _shown(self, text: str, reasoning: str) -> Chunk | None:
        if not text and not reasoning:
            return None
        self._answered = self._answered or bool(text.strip())
        self._written += (reasoning, text)
        return Chunk(text=text, reasoning=reasoning)

    def _nothing(self) -> ModelEmpty | ModelRejected:
        if self._finish_reason == "content_filter":
            return ModelRejected()
        return ThinkingUsedUpTheAnswer() if self._finish_reason == "length" else ModelEmpty()

    def _count(self, usage: object) -> None:
        if not isinstance(usage, dict):
            return
        prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
        if isinstance(prompt, int) and isinstance(completion, int):
            self.usage = Usage(prompt, completion)
