"""Dates and times as Chinese says them. Each rule is a pattern and what it means for somebody who speaks now."""

import re
from datetime import date, datetime, time, timedelta

from profiles import date_words as words
from profiles.date_words import number

N = r"(?:(?<!\d)\d{1,4}(?!\d)|[〇零一二两三四五六七八九十百]{1,5})"
UNITS = {
    **{"年": "year", "个月": "month", "月": "month", "个星期": "week", "星期": "week", "周": "week", "礼拜": "week"},
    **{"个礼拜": "week", "天": "day", "日": "day", "个工作日": "working day", "工作日": "working day"},
    **{"小时": "hour", "个小时": "hour", "个钟头": "hour", "钟头": "hour", "分钟": "minute"},
}
WEEKDAYS = {character: day for day, character in enumerate("一二三四五六日")} | {"天": 6, "末": 6}
NEAR = {"大前天": -3, "前天": -2, "昨天": -1, "昨日": -1, "昨": -1, "今天": 0, "今日": 0, "今": 0}
NEAR |= {"明天": 1, "明日": 1, "明": 1, "后天": 2, "后日": 2, "大后天": 3}
STEPS = {"上上": -2, "上": -1, "本": 0, "这": 0, "当": 0, "下": 1, "下下": 2}
YEARS = {"今年": 0, "明年": 1, "后年": 2, "去年": -1}
WHICH = r"(?P<which>下下|上上|下|本|这|上|当)(?:一)?个?"
NO_NUMBER = r"(?![\d〇零一二两三四五六七八九十])"


def _span(match: re.Match[str], now: datetime) -> date | datetime:
    """三天后, 一个半小时内, 半年前."""
    count: float = number(match["n"]) if match["n"] else 0
    count += 0.5 if match["half"] or match["and_half"] else 0
    unit = UNITS[match["unit"].removeprefix("半")]
    return words.after(now, -count if match["way"] == "前" else count, unit)


def _near(match: re.Match[str], now: datetime) -> date:
    return now.date() + timedelta(days=NEAR[match["near"]])


def _weekday(match: re.Match[str], now: datetime) -> date:
    day = WEEKDAYS[match["weekday"]]
    if match["which"]:
        return words.in_week(now.date(), day, STEPS[match["which"]])
    return words.next_weekday(now.date(), day)


def _week(match: re.Match[str], now: datetime) -> date:
    return words.end_of_week(now.date(), STEPS[match["which"]])


def _full(match: re.Match[str], now: datetime) -> date:
    return date(int(match["year"]), number(match["month"]), number(match["day"]))


def _month_and_day(match: re.Match[str], now: datetime) -> date:
    month, day = number(match["month"]), number(match["day"])
    if match["year"]:
        return date(now.year + YEARS[match["year"]], month, day)
    return words.next_day_of_year(now.date(), month, day)


def _month(match: re.Match[str], now: datetime) -> date:
    """三月底, 明年三月: the end of it unless another part is named."""
    month = number(match["month"])
    if match["year"]:
        year = now.year + YEARS[match["year"]] if match["year"] in YEARS else int(match["year"][:4])
    else:
        year = now.year + (month < now.month)
    return _part_of_month(date(year, month, 1), match["part"])


def _this_month(match: re.Match[str], now: datetime) -> date:
    return _part_of_month(
        words.add_months(now.date().replace(day=1), STEPS.get(match["which"] or "", 0)), match["part"]
    )


def _part_of_month(first: date, part: str | None) -> date:
    if part == "初":
        return first
    if part and part.startswith("中"):
        return first.replace(day=15)
    if part == "上旬":
        return first.replace(day=10)
    return words.end_of_month(first)


def _day_of_that_month(match: re.Match[str], now: datetime) -> date:
    return words.add_months(now.date().replace(day=1), STEPS[match["which"]]).replace(day=number(match["day"]))


def _day_of_month(match: re.Match[str], now: datetime) -> date:
    return words.next_day_of_month(now.date(), number(match["day"]))


def _quarter(match: re.Match[str], now: datetime) -> date:
    return words.end_of_quarter(now.date(), STEPS.get(match["which"] or "", 0))


def _year(match: re.Match[str], now: datetime) -> date:
    return date(now.year + {"明": 1, "后": 2}.get(match["which"] or "", 0), 12, 31)


DAYS = (
    (
        rf"(?<![\d月第年])(?:(?P<n>{N})(?P<and_half>个?半)?|(?P<half>半))"
        r"(?P<unit>个?月(?<=个月)|年|个?星期|个?礼拜|周|天|日(?!前)|个?工作日|个?小时|个?钟头|分钟)(?:之|以)?(?P<way>后|内|前|里)",
        _span,
    ),
    (r"(?P<near>大前天|前天|昨[天日]|今[天日]|明[天日]|大后天|后[天日]|[昨今明](?=[早晚晨]))", _near),
    (rf"(?:{WHICH})?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天末])", _weekday),
    (rf"{WHICH}(?:周|星期|礼拜){NO_NUMBER}(?![日天末八百])(?:之内|内|底)?", _week),
    (rf"(?<!\d)(?P<year>\d{{4}})\s*年\s*(?P<month>{N})\s*月\s*(?P<day>{N})\s*[日号]?", _full),
    (rf"(?P<year>今年|明年|后年|去年)?(?P<month>{N})\s*月\s*(?P<day>{N})\s*[日号]?", _month_and_day),
    (
        rf"(?P<year>今年|明年|后年|去年|(?<!\d)\d{{4}}年)?(?P<month>{N})月份?(?P<part>底|末|初|中旬|中|上旬|下旬)?(?![报\d])",
        _month,
    ),
    (rf"(?:{WHICH})月(?:份)?(?P<part>底|末|初|中旬|中|上旬|下旬)?{NO_NUMBER}", _this_month),
    (r"(?P<which>)月(?P<part>底|末|初|中旬|中(?![国央])|上旬|下旬)", _this_month),
    (rf"(?:{WHICH})月(?P<day>{N})[日号]", _day_of_that_month),
    (
        rf"(?<![\d月第〇零一二两三四五六七八九十百])(?P<day>{N})\s?[日号](?![楼线机门店院位文人会]|\s*会议)",
        _day_of_month,
    ),
    (rf"(?:(?:{WHICH})季度?(?:末|底|内)?|(?<!第)季度?[末底])", _quarter),
    (r"(?:(?P<which>今|明|后|本)年)?年?(?<=年)[底末]", _year),
)

PERIODS = r"(?P<period>凌晨|清晨|早上|早晨|上午|中午|正午|下午|午后|傍晚|晚上|晚间|夜里|[早晚晨])"
TIME = (
    rf"{PERIODS}?\s*(?P<hour>{N})(?:\s*[点時时]钟?(?:(?P<part>半|一刻|三刻)|(?P<minute>{N})分?)?|:(?P<colon>[0-5]\d)(?!\d))"
    rf"|(?P<alone>{PERIODS.replace('period', 'period_alone')})|(?P<leaving>下班)"
)
LAST = {"上午": time(12), "中午": time(12), "正午": time(12), "下午": time(18), "午后": time(18), "傍晚": time(18)}
LAST |= {"早上": time(9), "早晨": time(9), "早": time(9), "清晨": time(9), "晨": time(9), "凌晨": time(6)}
"""By when something is due that is due in this part of the day; an evening lasts until the day ends."""


def time_of(match: re.Match[str]) -> time | None:
    """The time of day that TIME has found; None for an evening without an hour. Raises ValueError for 25 点."""
    if match["leaving"]:
        return time(18)
    if match["alone"]:
        return LAST.get(match["alone"])
    hour = _hour(number(match["hour"]), match["period"], is_clock=match["colon"] is not None)
    quarters = {"半": 30, "一刻": 15, "三刻": 45}
    minute = quarters.get(match["part"] or "", 0) + number(match["minute"] or match["colon"] or "0")
    return time(hour, minute)


def _hour(hour: int, period: str | None, *, is_clock: bool) -> int:
    """In 24 hours. Three o'clock without more is in the afternoon: nobody works at night."""
    afternoon = (period is not None and period[0] in "下傍晚午夜") or (period in ("中午", "正午") and hour < 11)
    if period is None and not is_clock and 1 <= hour <= 6:
        afternoon = True
    if afternoon and hour < 12:
        return hour + 12
    return 0 if hour == 12 and period == "凌晨" else hour
