"""How a running turn speaks: it numbers events, sends them on, and keeps the text said so far."""

from collections.abc import Callable
from typing import Any

from flows.endings import closing_event
from flows.events import Event, TurnLog
from flows.markdown import BlockStream
from llm.types import Usage
from memory.turns import Outcome


class Voice:
    """The outgoing side of one turn. Everything said is in `text`, piece by piece joined."""

    def __init__(self, log: TurnLog, publish: Callable[[Event], None]) -> None:
        self._log, self._publish = log, publish
        self._pieces: list[str] = []
        self._blocks = BlockStream()
        self._rendered: list[str] = []
        self._memory_told: tuple[int, ...] = ()
        self.usage: dict[str, int] = {}

    @property
    def text(self) -> str:
        """The answer so far."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""

    def emit(self, kind: str, /, **data: Any) -> None:
        self._publish(self._log.emit(kind, **data))

    def say(self, text: str) -> None:
        """A piece of the answer: the piece for all, then the blocks that it finished for pages."""
        self._pieces.append(text)
        self.emit("delta", text=text)
        self._emit_blocks(self._blocks.feed(text))

    def spend(self, usage: Usage) -> None:
        """Adds the tokens of one call and tells the sum."""
        self.usage = {
            "prompt_tokens": self.usage.get("prompt_tokens", 0) + usage.prompt_tokens,
            "completion_tokens": self.usage.get("completion_tokens", 0) + usage.completion_tokens,
        }
        self.emit("usage", **self.usage)

    def tell_memory(self, used: dict[str, Any]) -> None:
        """Tells what memory the answer uses: once, and again when a tool has brought more of it."""
        sources = tuple(len(used[kind]) for kind in ("turns", "episodes", "passages"))
        if sources != self._memory_told:
            self._memory_told = sources
            self.emit("memory.used", **used)

    def finish_blocks(self) -> str:
        """Renders what is left of the text and returns the whole answer as HTML."""
        self._emit_blocks(self._blocks.finish())
        return "".join(self._rendered)

    def end(self, outcome: Outcome, *, html: str) -> None:
        """Says how the turn ended: the last thing it says."""
        kind, data = closing_event(outcome, html=html)
        self.emit(kind, **data)

    def _emit_blocks(self, blocks: list[tuple[int, str]]) -> None:
        for index, html in blocks:
            self._rendered.append(html)
            self.emit("block", index=index, html=html, rest=self._blocks.rest)
