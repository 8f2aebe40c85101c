"""What a model is asked about a person's memories, and reading its answer tolerantly.

Memories are sent redacted, fenced, numbered, and without sentences on private matters; what comes back is refused as a
whole when it is cut short or has no shape, and value by value when it is too long, private, or without evidence.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from llm import tokens
from llm.loose_json import object_in
from llm.types import ChatRequest, Completion, Message
from memory.extraction import Unusable
from memory.language import named
from memory.models import Episode
from memory.prompts import RULE, Block, fenced
from memory.redaction import redact
from profiles.models import TagKind
from profiles.models.tags import VALUE_CHARS, tag_key
from profiles.private_matters import is_private, without_private

MEMORY_TOKENS = 200
OUTPUT_TOKENS = 800
MOST = 6
"""Values of one kind that one answer may bring."""
FIELDS = {
    "work_style": TagKind.STYLE,
    "expertise": TagKind.EXPERTISE,
    "topics": TagKind.TOPIC,
    "tone": TagKind.TONE,
}
INSTRUCTION = (
    "Below are numbered notes from one person's conversations at work. Say what they show about how this person "
    "works. Answer with one JSON object and nothing else: "
    '{{"work_style": [], "expertise": [], "topics": [], "tone": []}}, each a list of '
    '{{"value": at most four words, "evidence": [numbers of the notes that show it]}}. work_style: '
    "habits of work, such as attention to detail. expertise: what the person knows well. topics: what they are busy "
    "with. tone: how they like to be spoken to. Only what the notes show plainly; an empty list is a good answer. "
    "Never anything about health, family, religion, unions, politics or pay, and no judgement of the person. Write "
    "the values in {language}.{rejected} {rule}"
)
REJECTED = " The person has said of these that they are wrong, so never give them or the like: {values}."
_BREAKS = re.compile(r"[\s|,，、;；:：<>\[\]{}()（）]+")


@dataclass(frozen=True, slots=True)
class Noticed:
    """One thing that the memories of these ids show."""

    kind: TagKind
    value: str
    episodes: frozenset[UUID]


def _numbers(value: Any) -> Any:
    """Whole numbers, however they are written: `1`, `"1"`, `"[1]"`, `"1, 2"`."""
    return [int(digits) for digits in re.findall(r"\d{1,4}", str(value))]


def _list(value: Any) -> Any:
    """A value alone has no evidence; what has another shape is left out, not the whole answer with it."""
    parts = value if isinstance(value, list) else []
    return [part for part in parts if isinstance(part, dict) and isinstance(part.get("value"), str)]


class _Value(BaseModel):
    model_config = ConfigDict(extra="ignore")

    value: str
    evidence: Annotated[list[int], BeforeValidator(_numbers)] = []


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    work_style: Annotated[list[_Value], BeforeValidator(_list)] = []
    expertise: Annotated[list[_Value], BeforeValidator(_list)] = []
    topics: Annotated[list[_Value], BeforeValidator(_list)] = []
    tone: Annotated[list[_Value], BeforeValidator(_list)] = []


def told(episode: Episode) -> str:
    """What a model may read of a memory; empty when all of it is private."""
    return tokens.cut(without_private(redact(episode.summary)), MEMORY_TOKENS)


def question(texts: Sequence[str], *, rejected: Iterable[str] = ()) -> ChatRequest:
    """What the model is asked about these memories; their numbers count from 1."""
    wrong = ", ".join(sorted(rejected))
    instruction = INSTRUCTION.format(
        language=named("\n".join(texts)), rejected=REJECTED.format(values=wrong) if wrong else "", rule=RULE
    )
    notes = "\n".join(f"{number}. {' '.join(text.split())}" for number, text in enumerate(texts, 1))
    return ChatRequest(
        messages=(Message("system", instruction), Message("user", fenced([Block("notes", "[笔记]", notes)]))),
        max_tokens=OUTPUT_TOKENS,
        thinking=False,
        json_schema=_Answer.model_json_schema(),
    )


def read(completion: Completion, sources: Sequence[UUID]) -> list[Noticed]:
    """What the answer says of the memories with these ids. Raises Unusable."""
    if completion.finish_reason == "length":
        raise Unusable("cut_short")
    answer = _parsed(completion.text)
    places = dict(enumerate(sources, 1))
    return [noticed for field, kind in FIELDS.items() for noticed in _of_kind(kind, getattr(answer, field), places)]


def _of_kind(kind: TagKind, values: Sequence[_Value], places: Mapping[int, UUID]) -> list[Noticed]:
    found: dict[str, Noticed] = {}
    for given in values:
        value = cleaned(given.value)
        episodes = frozenset(places[number] for number in given.evidence if number in places)
        if value and episodes:
            found.setdefault(tag_key(value), Noticed(kind, value, episodes))
    return list(found.values())[:MOST]


def cleaned(value: str) -> str:
    """A value as it may be kept: one line without marks that lists are made with; empty for one that may not."""
    plain = _BREAKS.sub(" ", redact(value)).strip(" .。\"'“”")
    return "" if len(plain) > VALUE_CHARS or is_private(plain) or "redacted" in plain else plain


def _parsed(text: str) -> _Answer:
    found = object_in(text)
    if found is None:
        raise Unusable("no_json")
    if not set(found) & set(FIELDS):
        raise Unusable("wrong_shape")
    try:
        return _Answer.model_validate(found)
    except ValidationError as error:
        raise Unusable("wrong_shape") from error
