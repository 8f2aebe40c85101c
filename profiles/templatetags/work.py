"""What pages say about work."""

from datetime import datetime
from uuid import UUID

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from memory.person import Person
from profiles.models import EvaluationReport, WorkTask

register = template.Library()
WEEK = 7


@register.simple_tag
def new_tasks(user: Person) -> int:
    """How many tasks others gave to `user` that they have not been shown yet."""
    return WorkTask.objects.unseen_by(user).count() if user.pk else 0


@register.simple_tag
def new_report(user: Person) -> UUID | None:
    """The report that was shared with `user` last and that they have not opened yet."""
    unseen = EvaluationReport.objects.unseen_by(user).order_by("-shared_at")
    return unseen.values_list("pk", flat=True).first()


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
