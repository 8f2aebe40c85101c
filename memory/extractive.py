"""An account of a conversation without a model: its own sentences, those that say the most, word for word."""

import re
from collections.abc import Iterable, Iterator

from llm import tokens
from llm.text import shortened

_END = re.compile(r"\n+|(?<=[。！？；!?])\s*|(?<=[.;])\s+(?=[A-Z\u3400-\u9fff])")
_CODE = re.compile(r"\b[A-Z]{1,10}[-_]?\d[\w-]*|\b[A-Z]{2,}\b", re.ASCII)
_DATE = re.compile(r"\d{1,4}\s*[年月日号点]|\b\d{4}-\d{1,2}-\d{1,2}\b|\b\d{1,2}:\d{2}\b|周[一二三四五六日天]|星期")
_NUMBER = re.compile(r"\d|[零一二三四五六七八九十百千万亿两]{2,}")
_NAME = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][a-z]+\b|[“「《][^”」》]{1,30}[”」》]", re.ASCII)
_DECIDED = re.compile(
    r"决定|确定|负责|截止|推迟|提前|改成|改为|改到|计划|必须|需要|完成|上线|记住|喜欢|偏好|不要|叫做|代号|名字"
    r"|\b(?:decid|agree|must|deadline|due|owns?\b|responsible|moved?\b|plan|prefer|remember|launch|will\b|called\b)",
    re.I,
)
_QUESTION = re.compile(r"[?？吗呢]\s*$")
SHORTEST, LONGEST = 4, 200
"""Characters of a sentence that may be worth keeping; a longer one is cut."""


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, in order, without blanks around them."""
    yield from filter(None, (part.strip() for part in _END.split(text)))


def weight(sentence: str) -> int:
    """How much a sentence says: decisions, dates, codes, names and numbers; a question says little."""
    if len(sentence) < SHORTEST:
        return 0
    marks = (2 * bool(pattern.search(sentence)) for pattern in (_CODE, _DATE, _DECIDED, _NAME))
    return max(sum(marks) + bool(_NUMBER.search(sentence)) - 3 * bool(_QUESTION.search(sentence)), 0)


def digest(told: Iterable[str], *, room: int, kept: str = "") -> str:
    """The weightiest sentences of `kept` and then of `told`, one a line in their order, within `room` tokens.

    `kept` is a former digest: at the same weight its lines stay. The empty text when nothing says anything.
    """
    lines = [(weight(line) + 1, line) for line in kept.splitlines() if line.strip()]
    lines += [(weight(sentence), _short(sentence)) for text in told for sentence in sentences(text)]
    chosen: dict[str, int] = {}
    for place in sorted(range(len(lines)), key=lambda place: (-lines[place][0], place)):
        worth, line = lines[place]
        cost = tokens.count(line) + 1
        if worth and line not in chosen and cost <= room:
            chosen[line] = place
            room -= cost
    return "\n".join(sorted(chosen, key=chosen.__getitem__))


def _short(sentence: str) -> str:
    return shortened(sentence, LONGEST)
