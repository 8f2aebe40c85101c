"""A period of whole days, as reports are written about."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

MOST_DAYS = 366


class PeriodRefused(Exception):
    """No period that a report can be about. `field` names the day that is wrong."""

    code = "invalid"
    permanent = True

    def __init__(self, field: str, detail: Promise) -> None:
        super().__init__(field)
        self.field = field
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Period:
    """From the beginning of `start` to the end of `end`, in the zone of whoever it is about."""

    start: date
    end: date

    def check(self, today: date) -> None:
        """Raises PeriodRefused for one that runs backwards, reaches beyond `today`, or is longer than 366 days."""
        if self.end < self.start:
            raise PeriodRefused("period_end", _("The last day lies before the first. Swap them."))
        if self.end > today:
            raise PeriodRefused("period_end", _("The last day lies in the future. Choose today or an earlier day."))
        if (self.end - self.start).days >= MOST_DAYS:
            raise PeriodRefused("period_start", _("A report covers 366 days at most. Choose a later first day."))

    def moments(self, zone: ZoneInfo) -> tuple[datetime, datetime]:
        """When it begins, and the first moment behind it."""
        begins, ends = (datetime.combine(day, time.min, zone) for day in (self.start, self.end + timedelta(days=1)))
        return begins, ends
