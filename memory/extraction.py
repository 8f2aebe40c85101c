"""What a model makes of a stretch of conversation: the schema, the question, and reading the answer tolerantly.

An answer is taken in fences, behind think tags, with a comma too many; it is refused when it is cut short, empty, in
another language than the person's, or names codes that nobody said. Names that do not stand in the person's own words
are left out: what the assistant or a document said is no fact about the person.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from llm import tokens
from llm.loose_json import object_in
from llm.types import ChatRequest, Completion, Message
from memory.language import named, same_language
from memory.models import EntityKind, Turn
from memory.models.episodes import key_of, squeezed
from memory.names import Link, Name, codes_in
from memory.prompts import RULE, Block, fenced
from memory.redaction import redact

SUMMARY_TOKENS = 400
MOST_KEYWORDS, MOST_NAMES, MOST_LINKS = 12, 20, 20
MESSAGE_TOKENS, ANSWER_TOKENS = 1200, 150
OUTPUT_TOKENS = 1500
RECALLED = "[answered from memory]"
"""In the place of an answer that quoted memory: what was recalled is not stored once more."""
INSTRUCTION = (
    "Write down what is worth remembering of the conversation below for months: decisions, tasks, dates, people, "
    "preferences, facts. Only what the user said counts as fact; what the assistant said is context. Answer with one "
    'JSON object and nothing else: {{"title": at most eight words, "summary": two to five sentences, "keywords": at '
    'most eight words, "importance": 1 to 5 (1 small talk, 3 useful for a while, 5 must not be forgotten), "entities": '
    '[{{"name", "type": person, organisation, project, product, place, code or other}}], "relations": [{{"source", '
    '"relation", "target"}} between entities]}}. Names, numbers and codes exactly as the user wrote them. Write in '
    "{language}. For small talk alone give importance 1. {rule}"
)
AGAIN = "That could not be used ({fault}). Answer once more, with the JSON object alone, whole, in {language}."


class Unusable(Exception):
    """A model's answer that nothing can be made of. `code` says why."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True, slots=True)
class Account:
    """What an episode is made of. Everything in it is redacted."""

    title: str
    summary: str
    keywords: tuple[str, ...] = ()
    importance: int = 3
    names: tuple[Name, ...] = ()
    links: tuple[Link, ...] = ()


def _text(value: Any) -> Any:
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else value


def _list(value: Any) -> Any:
    """Models give a text with commas, or nothing, where a list was asked for."""
    if isinstance(value, str):
        return [part for part in re.split(r"[,，、;；]\s*", value) if part]
    return [] if value is None else value


Line = Annotated[str, BeforeValidator(_text)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)


class _Entity(_Part):
    name: Line = Field(min_length=1)
    type: Line = "other"


class _Relation(_Part):
    source: Line = Field(min_length=1)
    relation: Line = Field(min_length=1, max_length=60)
    target: Line = Field(min_length=1)


class _Answer(_Part):
    title: Line = ""
    summary: Line = Field(min_length=1)
    keywords: Annotated[list[Line], BeforeValidator(_list)] = []
    importance: int = 3
    entities: Annotated[list[_Entity], BeforeValidator(_list)] = []
    relations: Annotated[list[_Relation], BeforeValidator(_list)] = []

    @field_validator("importance", mode="before")
    @classmethod
    def _within(cls, value: Any) -> int:
        digits = re.search(r"\d", str(value))
        return min(max(int(digits.group()), 1), 5) if digits else 3

    @field_validator("entities", "relations", mode="before")
    @classmethod
    def _shaped(cls, value: list[Any]) -> list[Any]:
        """A name alone stands for an entity; what has another shape is left out, not the whole answer with it."""
        shaped = [{"name": part} if isinstance(part, str) else part for part in value]
        return [part for part in shaped if isinstance(part, dict) and all(part.get(key) for key in _needed(part))]


def _needed(part: dict[str, Any]) -> tuple[str, ...]:
    return ("name",) if "name" in part else ("source", "relation", "target")


def question(turns: Sequence[Turn], *, fault: str = "", former: str = "") -> ChatRequest:
    """What the model is asked about a stretch; with `fault`, once more after an answer that could not be used."""
    language = named(words_of(turns))
    messages = [
        Message("system", INSTRUCTION.format(language=language, rule=RULE)),
        Message("user", fenced([Block("conversation", "[对话]", "\n".join(map(_told, turns)))])),
    ]
    if fault:
        messages.append(Message("assistant", tokens.cut(former, OUTPUT_TOKENS) or "…"))
        messages.append(Message("user", AGAIN.format(fault=fault, language=language)))
    return ChatRequest(
        messages=tuple(messages),
        max_tokens=OUTPUT_TOKENS * (2 if fault else 1),
        thinking=False,
        json_schema=_Answer.model_json_schema(),
    )


def words_of(turns: Sequence[Turn]) -> str:
    """What the person said, redacted."""
    return "\n".join(redact(turn.input) for turn in turns)


def _told(turn: Turn) -> str:
    words = tokens.cut(redact(turn.input), MESSAGE_TOKENS, keep="both")
    answer = tokens.cut(redact(turn.output), ANSWER_TOKENS, keep="both")
    if any(turn.memory_used.get(kind) for kind in ("turns", "episodes", "passages")):
        answer = RECALLED
    return f"{turn.started_at:%Y-%m-%d} user: {words}\nassistant: {answer}"


def read(completion: Completion, turns: Sequence[Turn]) -> Account:
    """The account in a model's answer. Raises Unusable."""
    if completion.finish_reason == "length":
        raise Unusable("cut_short")
    answer = _parsed(completion.text)
    words = words_of(turns)
    if not same_language(answer.summary, words):
        raise Unusable("other_language")
    if codes_in(answer.summary) - codes_in(f"{words}\n{_answers(turns)}"):
        raise Unusable("made_up_code")
    return _grounded(answer, words)


def _answers(turns: Sequence[Turn]) -> str:
    return "\n".join(turn.output for turn in turns)


def _parsed(text: str) -> _Answer:
    found = object_in(text)
    if found is None:
        raise Unusable("no_json")
    try:
        return _Answer.model_validate(found)
    except ValidationError as error:
        raise Unusable("wrong_shape") from error


def _grounded(answer: _Answer, words: str) -> Account:
    """The account without what the person did not say, each thing once."""
    said = squeezed(words)
    names: dict[str, Name] = {}
    for entity in answer.entities:
        name = redact(entity.name)[:120]
        if key_of(name) and key_of(name) in said:
            names.setdefault(key_of(name), Name(name, _kind(entity.type)))
    links: dict[tuple[str, str, str], Link] = {}
    for relation in answer.relations:
        ends = [names.get(key_of(end)) for end in (relation.source, relation.target)]
        if ends[0] and ends[1] and ends[0] is not ends[1]:
            link = Link(ends[0].text, redact(relation.relation), ends[1].text)
            links.setdefault((key_of(link.source), key_of(link.relation), key_of(link.target)), link)
    keywords = dict.fromkeys(redact(word)[:60] for word in answer.keywords if word)
    summary = tokens.cut(redact(answer.summary), SUMMARY_TOKENS)
    return Account(
        title=redact(answer.title)[:120] or summary[:40],
        summary=summary,
        keywords=tuple(keywords)[:MOST_KEYWORDS],
        importance=answer.importance,
        names=tuple(names.values())[:MOST_NAMES],
        links=tuple(links.values())[:MOST_LINKS],
    )


def _kind(given: str) -> EntityKind:
    known = {kind.value: kind for kind in EntityKind}
    return known.get(given.lower(), EntityKind.OTHER)
