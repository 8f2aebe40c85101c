"""What pages say about work."""

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django import template
from django.contrib.auth.models import User
from django.db.models import Exists, Subquery
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from memory.person import Person
from profiles.models import EvaluationReport, WorkTask

register = template.Library()
WEEK = 7


class News(NamedTuple):
    """What waits for somebody on every page: whether there is work, and which report."""

    work: bool = False
    report: UUID | None = None


@register.simple_tag
def news(user: Person) -> News:
    """Whether others gave work to `user` that they have not been shown yet; the last report that they have not opened.

    One statement for both: every page asks.
    """
    if not user.pk:
        return News()
    tasks = WorkTask.objects.unseen_by(user)
    reports = EvaluationReport.objects.unseen_by(user).order_by("-shared_at").values("pk")
    found = User.objects.filter(pk=user.pk).values_list(Exists(tasks), Subquery(reports[:1]))
    return News(*found.get())


@register.filter
def due_day(moment: datetime) -> str:
    """The day something is due, as people say it near by: today, tomorrow, a weekday, else the date."""
    local = timezone.localtime(moment)
    days = (local.date() - timezone.localdate()).days
    clock = "" if (local.hour, local.minute) == (23, 59) else date_format(local, " H:i")
    near = {-1: _("yesterday"), 0: _("today"), 1: _("tomorrow")}
    if days in near:
        return near[days] + clock
    if 1 < days < WEEK:
        return date_format(local, "D") + clock
    return date_format(local, "m-d" if local.year == timezone.localdate().year else "Y-m-d") + clock
