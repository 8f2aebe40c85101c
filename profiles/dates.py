"""When something is due, as people say it in Chinese or English: 下周五前, 明天下午三点, by the end of next month.

The rules are plain and our own: the libraries that were tried read 51 of 88 Chinese and 31 of 42 English phrases at
best, no single one both, and each finds dates where there are none. docs/people.md has the figures.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, time, timedelta

from django.utils import timezone

from llm.chinese import simplified
from memory.person import Person
from profiles import chinese_dates as chinese
from profiles import english_dates as english
from profiles.date_words import next_day_of_year
from profiles.models import zone_of

LONGEST = 2_000
"""Characters that are read. Whoever gives work says when it is due in fewer."""
END_OF_DAY = time(23, 59)
Rule = Callable[[re.Match[str], datetime], date | datetime]


@dataclass(frozen=True, slots=True)
class Due:
    """A moment in the zone of whoever said it. Without `has_time` it is the end of the day that was named.

    It may lie in the past: 昨天 means yesterday, whatever is wanted of it. `words` are those that said it.
    """

    at: datetime
    has_time: bool
    words: str


def due_in(text: str, user: Person) -> Due | None:
    """When `text` says that something is due, told in the time zone of `user`; None when it does not say."""
    return due(text, now=timezone.now().astimezone(zone_of(user)))


def due(text: str, *, now: datetime) -> Due | None:
    """The same for somebody who speaks at `now`, which is aware and in their zone.

    Of several dates the one that is called a deadline counts (前, 之前, by), else the first.
    """
    folded = simplified(" ".join(unicodedata.normalize("NFKC", text[:LONGEST]).casefold().split()))
    found = sorted(_days(folded, now), key=lambda day: (not day.is_deadline, day.begin))
    if found:
        return found[0].due(folded, now)
    return _time_alone(folded, now)


@dataclass(frozen=True, slots=True)
class _Day:
    """A day in a text, from `begin` to `end`, with the time of day that stands beside it."""

    begin: int
    end: int
    day: date | datetime
    clock: time | None
    is_deadline: bool

    def due(self, text: str, now: datetime) -> Due:
        said = text[self.begin : self.end].strip()
        if isinstance(self.day, datetime):
            return Due(self.day, True, said)
        at = datetime.combine(self.day, self.clock or END_OF_DAY, now.tzinfo)
        return Due(at, self.clock is not None, said)


def _iso(match: re.Match[str], now: datetime) -> date:
    return date(int(match["year"]), int(match["month"]), int(match["day"]))


def _month_and_day(match: re.Match[str], now: datetime) -> date:
    return next_day_of_year(now.date(), int(match["month"]), int(match["day"]))


_NO_PART = r"(?![\d./-]|\s*(?:天|周|个|小时|days?|weeks?|hours?))"
_NUMERIC: tuple[tuple[str, Rule], ...] = (
    (rf"(?<![\w./-])(?P<year>\d{{4}})([-/.])(?P<month>\d{{1,2}})\2(?P<day>\d{{1,2}}){_NO_PART}", _iso),
    (rf"(?<![a-z0-9./-])(?P<month>\d{{1,2}})[-/](?P<day>\d{{1,2}}){_NO_PART}", _month_and_day),
)
_DAYS = [(re.compile(pattern), rule) for pattern, rule in (*chinese.DAYS, *english.DAYS, *_NUMERIC)]
_CHINESE_TIME, _ENGLISH_TIME = re.compile(chinese.TIME), re.compile(english.TIME)
_TIMES = ((_CHINESE_TIME, chinese.time_of), (_ENGLISH_TIME, english.time_of))
_BETWEEN = re.compile(r"[\s,，的]{0,2}")
_DEADLINE = re.compile(r"\s*(?:之前|以前|前|截止|为止)")
_ENGLISH_DEADLINE = re.compile(r"\b(?:by|before|until|due)(?: on)?(?: the)? $")


def _days(text: str, now: datetime) -> Iterator[_Day]:
    """The days that the text names. What lies within a longer one is part of that, even where that is no real date."""
    matches = [(match, rule) for pattern, rule in _DAYS for match in pattern.finditer(text) if match.group()]
    spans = [match.span() for match, _rule in matches]
    for match, rule in matches:
        if any(_covers(span, match.span()) for span in spans):
            continue
        try:
            day = _within_reach(rule(match, now))
            begin, end, clock = _time_beside(text, *match.span())
        except (ValueError, OverflowError, KeyError):
            continue
        is_deadline = bool(_DEADLINE.match(text, end) or _ENGLISH_DEADLINE.search(text[:begin]))
        yield _Day(begin, end, day, clock, is_deadline)


def _within_reach(day: date | datetime) -> date | datetime:
    """The day. Raises ValueError for one that is no day of our calendar in some zone of the world."""
    if not MINYEAR < day.year < MAXYEAR:
        raise ValueError(day.year)
    return day


def _covers(outer: tuple[int, int], inner: tuple[int, int]) -> bool:
    return outer != inner and outer[0] <= inner[0] and inner[1] <= outer[1]


def _time_beside(text: str, begin: int, end: int) -> tuple[int, int, time | None]:
    """The time of day right behind a day, or in English right before it: `3pm on Friday`."""
    gap = _BETWEEN.match(text, end)
    start = gap.end() if gap else end
    for pattern, read in _TIMES:
        if match := pattern.match(text, start):
            return begin, match.end(), read(match)
    before = next(
        (m for m in _ENGLISH_TIME.finditer(text[:begin]) if re.fullmatch(r"(?: on)? ?", text[m.end() : begin])), None
    )
    return (before.start(), end, english.time_of(before)) if before else (begin, end, None)


def _time_alone(text: str, now: datetime) -> Due | None:
    """A time without a day is the next one: 下午五点前."""
    for pattern, read in _TIMES:
        for match in pattern.finditer(text):
            try:
                clock = read(match)
            except ValueError:
                continue
            if clock is None:
                continue
            at = datetime.combine(now.date(), clock, now.tzinfo)
            if at.astimezone(UTC) < now.astimezone(UTC):
                at += timedelta(days=1)
            return Due(at, True, match.group().strip())
    return None
