"""What is remembered from elsewhere, as a turn is given it: `Relevant Memory:` with one dated line for each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from llm import tokens
from memory.language import language_of
from memory.prompts import Block
from memory.retrieval.hits import Hit

TITLE = "Relevant Memory:"
WORDS_TOKENS, ANSWER_TOKENS = 160, 60
"""What one remembered turn may take: the person's words more than the answer to them."""
SAID = {
    "zh": "用户说“{words}”；当时的回答是“{answer}”",
    "other": "the user said “{words}”; the answer then was “{answer}”",
}


@dataclass(frozen=True, slots=True)
class MemoryContext:
    """What a person's memory holds about a query, each kind the best first.

    Entities are `{id, name, type}`, relations `{source, relation, target}`. `missing` names what was out of reach,
    `took_ms` is the time of the search.
    """

    related_episodes: tuple[Hit, ...] = ()
    related_entities: tuple[dict[str, Any], ...] = ()
    related_relations: tuple[dict[str, Any], ...] = ()
    related_turns: tuple[Hit, ...] = ()
    missing: tuple[str, ...] = ()
    took_ms: float = 0.0

    @property
    def hits(self) -> list[Hit]:
        """Episodes and turns in one ranking."""
        return sorted((*self.related_episodes, *self.related_turns), key=lambda hit: -hit.score)


def block(hits: Sequence[Hit], *, zone: ZoneInfo, room: int) -> tuple[Block | None, list[Hit]]:
    """The data block within `room` tokens, and the hits that are in it; None when there is nothing to tell."""
    lines, told = [], []
    for hit in hits:
        line = _line(hit, zone)
        cost = tokens.count(line) + 1
        if cost <= room:
            room -= cost
            lines.append(line)
            told.append(hit)
    return (Block("memory", TITLE, "\n".join(lines)) if lines else None), told


def _line(hit: Hit, zone: ZoneInfo) -> str:
    return f"- {hit.occurred_at.astimezone(zone):%Y-%m-%d} (Summary: {_told(hit)})"


def _told(hit: Hit) -> str:
    """The account of an episode; of a turn, who said what: an answer is no statement of the person's."""
    if hit.kind != "turn":
        return _one_line(hit.text)
    words, answer = (_one_line(part) for part in (hit.question, hit.answer))
    words, answer = tokens.cut(words, WORDS_TOKENS, keep="both"), tokens.cut(answer, ANSWER_TOKENS)
    return SAID["zh" if language_of(words) == "zh" else "other"].format(words=words, answer=answer)


def _one_line(text: str) -> str:
    return " ".join(text.split())
