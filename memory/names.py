"""Names in a text by rule: codes, names that are marked as such, people, places and organisations, capitalised words.

Used where no model reads the text, and to hold a model to names that stand in what the person said.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import rjieba

from memory.extractive import sentences
from memory.language import language_of
from memory.models.episodes import EntityKind, key_of

CODE = re.compile(r"(?<![A-Za-z0-9])[A-Z]{1,10}[-_]?\d[A-Z0-9]*(?:[-_][A-Z0-9]+)*(?![A-Za-z0-9])")
_MARKED = re.compile(r"[《「“\"]([^》」”\"\n]{2,30})[》」”\"]")
_PROJECT = re.compile(r"([\u4e00-\u9fff]{2,6}|[A-Za-z][\w-]{1,20}\s?)项目|[Pp]roject\s+([A-Z]\w*)")
_LETTER = "A-Za-z0-9_\u00c0-\u024f"
"""Beside these a Latin word goes on; beside a Chinese character it does not."""
_CAPITALISED = re.compile(rf"(?<![{_LETTER}])(?:[A-Z][a-z]+(?:\s+[A-Z][a-z]+)*|[A-Z]{{2,8}})(?![{_LETTER}])")
_STARTS = re.compile(r"(?:^|[.!?。！？\n]\s*)$")
_TAGS = {"nr": EntityKind.PERSON, "ns": EntityKind.PLACE, "nt": EntityKind.ORGANISATION}
SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董潘袁于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖"
    "贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤"
)
"""Of nineteen people in twenty. The segmenter takes many a new word for a name."""
_NO_NAMES = """
I The A An It We You He She They This That These Those My Our Your In On At For And But Or So If When What Who Where Why
How Is Are Was Were Do Does Did Can Could Will Would Please Yes No Not Ok OK Hi Hello Thanks Monday Tuesday Wednesday
Thursday Friday Saturday Sunday January February March April May June July August September October November December
"""
NO_NAMES = frozenset(_NO_NAMES.split())
MOST = 12
RELATED = {"zh": "相关", "other": "related to"}
"""What is said of two names that stand in one sentence, when no model has read it."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name as it is written, and what it names."""

    text: str
    kind: EntityKind


@dataclass(frozen=True, slots=True)
class Link:
    """`source` stands in `relation` to `target`, by their names."""

    source: str
    relation: str
    target: str


def names_in(text: str) -> list[Name]:
    """The names in a text, in order, each once, at most a dozen."""
    found: dict[str, Name] = {}
    for name in _all(text):
        found.setdefault(key_of(name.text), name)
    return list(found.values())[:MOST]


def links_in(text: str, names: list[Name]) -> list[Link]:
    """Names that stand in one sentence belong together: all that can be said without understanding it."""
    links: dict[tuple[str, str], Link] = {}
    for sentence in sentences(text):
        inside = [name.text for name in names if name.text in sentence]
        for source, target in combinations(inside, 2):
            relation = RELATED["zh" if language_of(sentence) == "zh" else "other"]
            links.setdefault((source, target), Link(source, relation, target))
    return list(links.values())[:MOST]


def codes_in(text: str) -> set[str]:
    """The codes in a text, as keys."""
    return {key_of(code) for code in CODE.findall(text)}


def _all(text: str) -> Iterator[Name]:
    for code in CODE.finditer(text):
        yield Name(code.group(), EntityKind.CODE)
    for project in _PROJECT.finditer(text):
        yield Name((project.group(1) or project.group(2)).strip(), EntityKind.PROJECT)
    for marked in _MARKED.finditer(text):
        yield Name(marked.group(1).strip(), EntityKind.OTHER)
    if language_of(text) == "zh":
        for word, tag in rjieba.tag(text):
            if tag in _TAGS and len(word) > 1 and (tag != "nr" or _is_name(word)):
                yield Name(word, _TAGS[tag])
    for capitalised in _CAPITALISED.finditer(CODE.sub(" ", text)):
        starts_sentence = bool(_STARTS.search(text[: capitalised.start()])) and " " not in capitalised.group()
        if capitalised.group() not in NO_NAMES and not starts_sentence:
            yield Name(capitalised.group(), EntityKind.OTHER)


def _is_name(word: str) -> bool:
    return word[0] in SURNAMES and len(word) <= 3
