"""Dates and times as English says them. Each rule is a pattern and what it means for somebody who speaks now."""

import re
from datetime import date, datetime, time, timedelta

from profiles import date_words as words
from profiles.date_words import number

N = rf"(?:\d{{1,4}}|{'|'.join(sorted(words.WORDS, key=len, reverse=True))})"
MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
MONTH = rf"(?P<month>{'|'.join(MONTHS)}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
NAMED_DAY = rf"(?P<weekday>{'|'.join(WEEKDAYS)})"
SHORT_DAY = r"(?P<weekday>mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)"
NOT_WHOSE = r"\b(?!['’]s)"
TH = r"(?:st|nd|rd|th)"
UNIT = r"(?P<unit>minute|hour|working day|business day|day|week|month|year)s?"
STEPS = {"last": -1, "this": 0, "the": 0, "next": 1}
EVENING = time(18)


def _span(match: re.Match[str], now: datetime) -> date | datetime:
    """in three days, within 2 hours, 3 days ago."""
    count = -number(match["n"]) if match.re.pattern.endswith(r"ago\b") else number(match["n"])
    return words.after(now, count, match["unit"].replace("business", "working"))


def _half(match: re.Match[str], now: datetime) -> date | datetime:
    return words.after(now, 0.5, match["unit"])


def _near(match: re.Match[str], now: datetime) -> date:
    days = {"yesterday": -1, "tomorrow": 1, "tmrw": 1, "after": 2}
    said = "after" if "after" in match["near"] else match["near"]
    return now.date() + timedelta(days=days.get(said, 0))


def _end_of_day(match: re.Match[str], now: datetime) -> datetime:
    return datetime.combine(now.date(), EVENING, now.tzinfo)


def _weekday(match: re.Match[str], now: datetime) -> date:
    day = next(place for place, name in enumerate(WEEKDAYS) if name.startswith(match["weekday"][:3]))
    today = now.date()
    if match["which"] == "next":
        return words.in_week(today, day, 1)
    if match["which"] == "last":
        return words.next_weekday(today - timedelta(days=7), day)
    return words.next_weekday(today, day)


def _period(match: re.Match[str], now: datetime) -> date:
    """next week, end of the month, this quarter: the end of it."""
    steps, today = STEPS[match["which"] or "this"], now.date()
    match match["period"]:
        case "week":
            return words.end_of_week(today, steps)
        case "weekend":
            return words.in_week(today, 6, steps)
        case "month":
            return words.end_of_month(today, steps)
        case "quarter":
            return words.end_of_quarter(today, steps)
        case _:
            return date(today.year + steps, 12, 31)


def _date(match: re.Match[str], now: datetime) -> date:
    month = next(place for place, name in enumerate(MONTHS, 1) if name.startswith(match["month"][:3]))
    if match["year"]:
        return date(int(match["year"]), month, int(match["day"]))
    return words.next_day_of_year(now.date(), month, int(match["day"]))


def _day_of_month(match: re.Match[str], now: datetime) -> date:
    if match["which"]:
        first = words.add_months(now.date().replace(day=1), STEPS[match["which"]])
        return first.replace(day=int(match["day"]))
    return words.next_day_of_month(now.date(), int(match["day"]))


DAYS = (
    (rf"\b(?:in|within) (?P<n>{N}) {UNIT}\b", _span),
    (rf"\b(?P<n>{N}) {UNIT} (?:from now|later)\b", _span),
    (rf"\b(?P<n>{N}) {UNIT} ago\b", _span),
    (r"\b(?:in|within) half an? (?P<unit>hour|day|year)\b", _half),
    (rf"\b(?P<near>(?:the )?day after tomorrow|yesterday|today|tonight|tomorrow|tmrw){NOT_WHOSE}", _near),
    (rf"\b(?:end of (?:the )?(?:day|business)|eod|cob)\b(?! (?:on )?(?:{'|'.join(WEEKDAYS)}|tomorrow))", _end_of_day),
    (rf"\b(?:(?P<which>this|next|last|coming) )?{NAMED_DAY}{NOT_WHOSE}", _weekday),
    (rf"\b(?:(?P<which>this|next|last)|by|on|before|until) {SHORT_DAY}{NOT_WHOSE}", _weekday),
    (
        r"\b(?:the )?end of (?:(?P<which>this|the|next|last) )?(?P<period>weekend|week|month|quarter|year)\b",
        _period,
    ),
    (r"\b(?P<which>this|next) (?P<period>weekend|week|month|quarter|year)\b", _period),
    (r"\b(?P<which>)(?P<period>month|quarter|year)[- ]end\b", _period),
    (rf"\b{MONTH} (?P<day>\d{{1,2}}){TH}?\b(?!:)(?:,? (?P<year>\d{{4}})\b)?", _date),
    (rf"\b(?P<day>\d{{1,2}}){TH}? (?:of )?{MONTH}\b(?:,? (?P<year>\d{{4}})\b)?", _date),
    (rf"\bthe (?P<day>\d{{1,2}}){TH}\b(?: of (?P<which>this|next) month\b)?", _day_of_month),
)

TIME = (
    r"(?:\b(?:at|by|before|until)\s+)?(?:(?P<hour>\d{1,2})(?::(?P<minute>[0-5]\d))?\s*(?P<half>am|pm|a\.m\.|p\.m\.)"
    r"|(?P<clock>\d{1,2}:[0-5]\d)(?!\d)"
    r"|(?P<word>noon|midnight|morning|afternoon|evening|(?:end of (?:the )?day)|eod|cob)\b"
    r"|(?<=at )(?P<bare>\d{1,2})\b(?![:.]))"
)
LAST = {"noon": time(12), "morning": time(12), "afternoon": EVENING, "eod": EVENING, "cob": EVENING}


def time_of(match: re.Match[str]) -> time | None:
    """The time of day that TIME has found; None for an evening, which lasts until the day ends."""
    if match["word"]:
        return EVENING if match["word"].startswith("end of") else LAST.get(match["word"])
    if match["clock"]:
        return time.fromisoformat(match["clock"].zfill(5))
    if match["bare"]:
        hour = int(match["bare"])
        return time(hour + 12 if 1 <= hour <= 6 else hour)
    hour = int(match["hour"])
    if not 1 <= hour <= 12:
        raise ValueError(hour)
    return time(hour % 12 + (12 if match["half"].startswith("p") else 0), int(match["minute"] or 0))
