"""Numbers in what a model wrote, and those that an item of evidence holds: none may stand there that nothing backs."""

import re
import unicodedata
from collections.abc import Iterator
from datetime import datetime
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.dateparse import parse_datetime

from profiles.date_words import DIGITS, number
from profiles.reports.evidence import METRIC, WORK

Numbers = set[Decimal]
_DIGITS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_HAN = "".join(DIGITS) + "十百千万"
_UNITS = "个項项件条份次天日号周月年季小点分秒成倍名位人页轮遍家类种步%％"
# 一 alone is an article (一个, 一次); with another character it is a number.
_CHINESE = re.compile(rf"百分之([{_HAN}]+)|([{_HAN}]+)分之([{_HAN}]+)|([{_HAN}]+)(?=[{_UNITS}])")
_WORDS: dict[str, int] = {
    **{"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10},
    **{"eleven": 11, "twelve": 12, "dozen": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16},
    **{"seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50},
    **{"sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000},
    **{"half": 50, "twice": 2, "double": 2, "doubled": 2, "triple": 3, "thrice": 3, "zero": 0},
}
_ENGLISH = re.compile(rf"\b({'|'.join(_WORDS)})(?:s|th)?\b", re.IGNORECASE | re.ASCII)  # 完成twenty项
_HALF = re.compile(r"一半|半数|过半|对半")


def numbers_in(text: str) -> Numbers:
    """Every number that a text names: in digits of any width, in Chinese before a unit, in English words."""
    plain = unicodedata.normalize("NFKC", text)
    found = {Decimal(digits.replace(",", "")) for digits in _DIGITS.findall(plain)}
    found |= {Decimal(_WORDS[word.lower()]) for word in _ENGLISH.findall(plain)}
    found |= {Decimal(50)} if _HALF.search(plain) else set()
    return found | set(_chinese(plain))


def _chinese(plain: str) -> Iterator[Decimal]:
    for match in _CHINESE.finditer(plain):
        for said in filter(None, match.groups()):
            if said == "一":
                continue
            tenths = plain[match.end() : match.end() + 1] == "成"
            yield _value(said) * (10 if tenths else 1)


def _value(said: str) -> Decimal:
    """A Chinese number; one that is too large or muddled to read is a number that nothing holds."""
    try:
        return Decimal(number(said))
    except ValueError:
        return Decimal(-1)


def numbers_of(item: dict[str, Any], zone: ZoneInfo) -> Numbers:
    """Every number that a claim may take from one item of evidence, rounded or not."""
    if item["kind"] == METRIC:
        return _of_metric(item)
    if item["kind"] == WORK:
        days = (item["given"], item["due"], item["ended"])
        return numbers_in(item["title"]) | {part for stamp in days if stamp for part in _parts(stamp, zone)}
    return {Decimal(item["count"])} | numbers_in(item.get("value", "") + item.get("name", ""))


def _of_metric(item: dict[str, Any]) -> Numbers:
    held = {Decimal(item[name]) for name in ("n", "part") if item[name] is not None}
    if item["value"] is None:
        return held
    value = Decimal(str(item["value"]))
    if item["name"].endswith("_rate"):
        return held | {value} | _rounded(value * 100)
    return held | (_rounded(value) | _rounded(value / 24) if item["name"].endswith("_hours") else {value})


def _rounded(value: Decimal) -> Numbers:
    steps = (Decimal(1), Decimal("0.1"), Decimal("0.01"))
    return {value.quantize(step, rounding=way) for step in steps for way in (ROUND_HALF_UP, ROUND_HALF_EVEN)}


def _parts(stamp: str, zone: ZoneInfo) -> Numbers:
    moment = parse_datetime(stamp)
    local = moment.astimezone(zone) if moment else datetime.min.replace(tzinfo=zone)
    return {Decimal(local.year), Decimal(local.month), Decimal(local.day)}
