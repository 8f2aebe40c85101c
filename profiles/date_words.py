"""Arithmetic of days, and numbers as Chinese and English say them."""

import calendar
import re
from datetime import date, datetime, timedelta

DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
WORDS = {
    word: value
    for value, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
        ]
    )
} | {"a": 1, "an": 1}
CHINESE_NUMBER = re.compile(r"(?:(?P<hundreds>.)百零?)?(?:(?P<tens>.?)十)?(?P<ones>.?)")
FRIDAY = 4


def number(text: str) -> int:
    """A number in digits, Chinese or English words. Raises ValueError for what is none."""
    if text.isascii() and text.isdecimal():
        return int(text)
    if text in WORDS:
        return WORDS[text]
    parts = CHINESE_NUMBER.fullmatch(text)
    if not text or parts is None:
        raise ValueError(text)
    hundreds, tens, ones = parts["hundreds"], parts["tens"], parts["ones"]
    try:
        return (
            100 * (DIGITS[hundreds] if hundreds else 0)
            + 10 * (0 if tens is None else DIGITS[tens] if tens else 1)
            + (DIGITS[ones] if ones else 0)
        )
    except KeyError:
        raise ValueError(text) from None


def add_months(day: date, months: int) -> date:
    """The same day some months on, or the last of a shorter month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def end_of_month(day: date, months: int = 0) -> date:
    """The last day of the month that lies `months` after that of `day`."""
    first = add_months(day.replace(day=1), months)
    return first.replace(day=calendar.monthrange(first.year, first.month)[1])


def end_of_quarter(day: date, quarters: int = 0) -> date:
    """The last day of the quarter that lies `quarters` after that of `day`."""
    return end_of_month(day, 2 - (day.month - 1) % 3 + 3 * quarters)


def in_week(day: date, weekday: int, weeks: int = 0) -> date:
    """A weekday (Monday is 0) of the week that lies `weeks` after that of `day`. Weeks begin on Mondays."""
    return day + timedelta(days=weekday - day.weekday() + 7 * weeks)


def end_of_week(day: date, weeks: int = 0) -> date:
    """The Friday of a week; its Sunday, when Friday is over."""
    friday = in_week(day, FRIDAY, weeks)
    return friday if friday >= day or weeks < 0 else in_week(day, 6, weeks)


def next_weekday(day: date, weekday: int) -> date:
    """The first such weekday from `day` on, `day` itself included."""
    return day + timedelta(days=(weekday - day.weekday()) % 7)


def next_day_of_year(day: date, month: int, number: int) -> date:
    """The first such date from `day` on. Raises ValueError when no year has it."""
    for year in range(day.year, day.year + 9):
        if calendar.monthrange(year, month)[1] >= number and date(year, month, number) >= day:
            return date(year, month, number)
    raise ValueError(number)


def next_day_of_month(day: date, number: int) -> date:
    """The first such day of a month from `day` on. Raises ValueError when no month has it."""
    for months in range(13):
        last = end_of_month(day, months)
        if number <= last.day and last.replace(day=number) >= day:
            return last.replace(day=number)
    raise ValueError(number)


def working_days(day: date, count: int) -> date:
    """So many days from Monday to Friday after `day`; holidays are not known here."""
    if count > 1000:
        raise ValueError(count)
    while count > 0:
        day += timedelta(days=1)
        count -= day.weekday() < FRIDAY + 1
    return day


def after(now: datetime, count: float, unit: str) -> date | datetime:
    """`count` units after `now`: a day for days and longer, a moment for hours and minutes."""
    whole = int(count)
    match unit:
        case "minute" | "hour":
            moved = now.timestamp() + count * (60 if unit == "minute" else 3600)
            return datetime.fromtimestamp(moved, now.tzinfo).replace(second=0, microsecond=0)
        case "day":
            return now.date() + timedelta(days=whole)
        case "working day":
            return working_days(now.date(), whole)
        case "week":
            return now.date() + timedelta(days=7 * whole)
        case "month":
            return add_months(now.date(), whole)
        case _:
            return add_months(now.date(), int(12 * count))
