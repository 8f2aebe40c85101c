"""Turns what nodes produce into the one text that the person reads, as early as it is certain.

An answer node whose only way in is the llm node that its template refers to first speaks while that node
still writes. Every other answer speaks when it is reached. Answers never mix: one that has something to say while
another speaks waits for it.
"""

from dataclasses import dataclass, field

from flows.definition import Definition
from flows.references import Reference, parse

BETWEEN_ANSWERS = "\n\n"


@dataclass(slots=True)
class _Answer:
    """One answer while it is spoken: what was said of it, what is still to say, whether that is all."""

    said: list[str] = field(default_factory=list)
    unsaid: list[str] = field(default_factory=list)
    complete: bool = False


class Speaker:
    """The text of one run. Its methods give the pieces to send, which joined are the output."""

    def __init__(self, definition: Definition) -> None:
        self._live = live_answers(definition)
        self._answers: dict[str, _Answer] = {}
        self._silent = True

    def heard(self, node_id: str, delta: str) -> list[str]:
        """A node produced a piece of text."""
        if node_id not in self._live:
            return []
        answer_id, lead = self._live[node_id]
        if answer_id not in self._answers:
            self._answers[answer_id] = _Answer(unsaid=[lead])
        self._answers[answer_id].unsaid.append(delta)
        return self._speak()

    def finished(self, answer_id: str, text: str) -> list[str]:
        """An answer node ended with `text`."""
        answer = self._answers.setdefault(answer_id, _Answer())
        said = "".join(answer.said)
        if text.startswith(said):
            answer.unsaid = [text[len(said) :]]
        else:
            # The node that was heard failed and something else stands in for it: what was said cannot be unsaid.
            answer.unsaid = [BETWEEN_ANSWERS, text]
        answer.complete = True
        return self._speak()

    def skipped(self, node_id: str) -> list[str]:
        """A node will never run. If an answer began to be spoken, it ends where it is."""
        if node_id not in self._answers:
            return []
        self._answers[node_id].unsaid.clear()
        self._answers[node_id].complete = True
        return self._speak()

    def proposed(self, node_id: str, text: str) -> list[str]:
        """The run pauses here: what has still to be said is said, and behind it what the node asks."""
        for answer in self._answers.values():
            answer.complete = True
        self._answers[f"{node_id} proposes"] = _Answer(unsaid=[text], complete=True)  # no id of a node has a blank
        return self._speak()

    def _speak(self) -> list[str]:
        """What can be said now: of each answer in the order they began, up to the first that is not complete."""
        pieces: list[str] = []
        for answer in self._answers.values():
            if text := "".join(answer.unsaid):
                pause = "" if self._silent or answer.said else BETWEEN_ANSWERS
                pieces.append(pause + text)
                answer.said.append(text)
                self._silent = False
            answer.unsaid.clear()
            if not answer.complete:
                break
        return pieces


def live_answers(definition: Definition) -> dict[str, tuple[str, str]]:
    """`{llm node: (answer node, text before its reference)}` for answers that can speak at once."""
    live: dict[str, tuple[str, str]] = {}
    for answer in definition.nodes:
        into = definition.edges_into(answer.id)
        if answer.type != "answer" or len(into) != 1 or into[0].branch is not None:
            continue
        lead = ""
        for part in parse(str(answer.config.get("text", ""))):
            if isinstance(part, Reference):
                if part.node_id == into[0].source and part.field == "text":
                    live.setdefault(part.node_id, (answer.id, lead))
                break
            lead = part
    return live
