"""Turns what nodes produce into the one text that the person reads, as early as it is certain.

An answer node whose only way in is the llm node that its template refers to first speaks while that node
still writes. Every other answer speaks when it is reached. Answers never mix: one that is ready while another
speaks waits for it.
"""

from collections.abc import Mapping
from typing import Any

from flows.definition import Definition, Node
from flows.references import Reference, parse, render

BETWEEN_ANSWERS = "\n\n"


class Speaker:
    """The text of one run. Its methods give the pieces to send, which joined are the output."""

    def __init__(self, definition: Definition) -> None:
        self._live = live_answers(definition)
        self._speaking: str | None = None
        self._spoken: dict[str, str] = {}
        self._waiting: list[tuple[str, str]] = []
        self._silent = True

    def heard(self, node: Node, delta: str, values: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """A node produced a piece of text."""
        answer_id, lead = self._live.get(node.id, (None, ""))
        if answer_id is None or self._speaking not in (None, answer_id):
            return []
        if self._speaking is None:
            self._speaking = answer_id
            self._spoken[answer_id] = ""
            delta = render(lead, values) + delta
        return self._say(answer_id, delta)

    def finished(self, answer_id: str, text: str) -> list[str]:
        """An answer node ended with `text`."""
        if self._speaking not in (None, answer_id):
            self._waiting.append((answer_id, text))
            return []
        pieces = self._complete(answer_id, text)
        self._speaking = None
        for waiting_id, waiting_text in self._waiting:
            pieces += self._complete(waiting_id, waiting_text)
        self._waiting.clear()
        return pieces

    def _complete(self, answer_id: str, text: str) -> list[str]:
        """What is still to be said of an answer, given what was said while it was written."""
        spoken = self._spoken.get(answer_id, "")
        if text.startswith(spoken):
            return self._say(answer_id, text[len(spoken) :])
        # The node that was heard failed and something else stands in for it: what was said cannot be unsaid.
        return self._say(answer_id, BETWEEN_ANSWERS + text)

    def _say(self, answer_id: str, text: str) -> list[str]:
        if not text:
            return []
        pause = "" if self._silent or self._spoken.get(answer_id) else BETWEEN_ANSWERS
        self._silent = False
        self._spoken[answer_id] = self._spoken.get(answer_id, "") + text
        return [pause + text]


def live_answers(definition: Definition) -> dict[str, tuple[str, str]]:
    """`{llm node: (answer node, template before its reference)}` for answers that can speak at once."""
    live: dict[str, tuple[str, str]] = {}
    for answer in definition.nodes:
        into = definition.edges_into(answer.id)
        if answer.type != "answer" or len(into) != 1 or into[0].branch is not None:
            continue
        lead: list[str] = []
        for part in parse(str(answer.config.get("text", ""))):
            if isinstance(part, Reference):
                if part.node_id == into[0].source and part.field == "text":
                    live.setdefault(part.node_id, (answer.id, "".join(lead)))
                break
            lead.append(part)
    return live
