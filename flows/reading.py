"""Values as models write them: a number in quotes, a yes in words, nothing in many ways."""

import math
import re
import unicodedata
from typing import Any

NOTHING = frozenset({"", "null", "none", "n/a", "nil", "unknown", "无", "没有", "未知", "未提及", "未提到", "未说明"})
YES = frozenset({"true", "yes", "y", "1", "是", "是的", "对", "有", "真", "需要"})
NO = frozenset({"false", "no", "n", "0", "否", "不是", "不", "没有", "假", "不需要", "无"})
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
_GROUPED = re.compile(r"(?<=\d)[,_ ](?=\d{3}(?!\d))")
LARGE = {"万": 10_000, "亿": 100_000_000}


class Unreadable(Exception):
    """There is something, but nothing of the kind that was asked for."""


def words(given: Any) -> str | None:
    """A text; None for nothing. A list of texts is one, with commas. Raises Unreadable."""
    match given:
        case None:
            return None
        case bool():
            raise Unreadable
        case str() | int() | float():
            text = str(given).strip()
            return None if folded(text) in NOTHING else text
        case list():
            parts = [part for part in map(words, given) if part]
            return ", ".join(parts) or None
    raise Unreadable


def number(given: Any) -> int | float | None:
    """A number, whole where it has no fraction; None for nothing. Raises Unreadable for none or several."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        return _whole(given)
    text = words(given)
    if text is None:
        return None
    text = _GROUPED.sub("", unicodedata.normalize("NFKC", text))
    found = list(_NUMBER.finditer(text))
    if len(found) != 1:
        raise Unreadable
    digits, unit = found[0].group(), text[found[0].end() :].strip()[:1]
    return _whole((float(digits) if "." in digits else int(digits)) * LARGE.get(unit, 1))


def flag(given: Any) -> bool | None:
    """Yes or no; None for nothing. Raises Unreadable."""
    if isinstance(given, bool):
        return given
    text = folded(str(given)) if isinstance(given, str | int | float) else ""
    if text in YES or text in NO:
        return text in YES
    if given is None or text in NOTHING:
        return None
    raise Unreadable


def folded(text: str) -> str:
    """Case, width and the marks at the end made alike."""
    return unicodedata.normalize("NFKC", text).casefold().strip(" \t\r\n.。!！\"'")


def _whole(value: int | float) -> int | float:
    if isinstance(value, int):
        return value
    if not math.isfinite(value):
        raise Unreadable
    return int(value) if value.is_integer() else value
