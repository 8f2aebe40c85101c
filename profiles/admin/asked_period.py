"""Periods as pages ask for them: the last weeks, the last month or quarter, or days of one's own."""

from dataclasses import dataclass
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from django.http import QueryDict
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from profiles.charts import last_weeks
from profiles.reports.period import Period, PeriodRefused

SPANS: dict[str, tuple[str | Promise, int]] = {
    "4w": (_("4 weeks"), 4),
    "12w": (_("12 weeks"), 12),
    "52w": (_("52 weeks"), 52),
}
USUAL, OWN = "12w", "own"


@dataclass(frozen=True, slots=True)
class AskedPeriod:
    """What an address asks to see. `key` is one of SPANS, or OWN; `fault` says why own days were not taken."""

    key: str
    period: Period
    fault: str | Promise = ""


def shown_period(query: QueryDict, zone: ZoneInfo) -> AskedPeriod:
    """The period that `?show=` names, or the days `?from=` and `?to=`; the usual one for anything else."""
    key = query.get("show", USUAL)
    if key == OWN:
        return _own(query, zone)
    key = key if key in SPANS else USUAL
    return AskedPeriod(key, last_weeks(SPANS[key][1], zone))


def _own(query: QueryDict, zone: ZoneInfo) -> AskedPeriod:
    try:
        return AskedPeriod(OWN, own_period(query, timezone.localdate(timezone=zone)))
    except PeriodRefused as refused:
        return AskedPeriod(USUAL, last_weeks(SPANS[USUAL][1], zone), refused.detail)


def own_period(said: QueryDict, today: date) -> Period:
    """The days `from` and `to`. Raises PeriodRefused."""
    start, end = _day(said.get("from", "")), _day(said.get("to", ""))
    if start is None or end is None:
        raise PeriodRefused("period_start", _("Choose a first and a last day."))
    period = Period(start, end)
    period.check(today)
    return period


def _day(text: str) -> date | None:
    try:
        return parse_date(text)
    except ValueError:
        return None  # well written, but no day: 2026-02-30


def report_periods(today: date) -> dict[str, tuple[str | Promise, Period]]:
    """The periods that a report is mostly about."""
    return {
        "month": (_("Last month"), last_month(today)),
        "quarter": (_("Last quarter"), last_quarter(today)),
    }


def last_month(today: date) -> Period:
    end = today.replace(day=1) - timedelta(days=1)
    return Period(end.replace(day=1), end)


def last_quarter(today: date) -> Period:
    this = today.replace(month=(today.month - 1) // 3 * 3 + 1, day=1)
    end = this - timedelta(days=1)
    return Period(end.replace(month=end.month - 2, day=1), end)


def asked_for_report(said: QueryDict, today: date) -> Period:
    """The period that the form for a report names. Raises PeriodRefused."""
    known = report_periods(today).get(said.get("which", ""))
    return known[1] if known else own_period(said, today)
