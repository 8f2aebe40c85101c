"""Taking rows that a job works on, so that no other worker takes the same while a model is being asked."""

from datetime import timedelta
from typing import Any, TypeVar

from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

Row = TypeVar("Row", bound=models.Model)


def claim(due: models.QuerySet[Row], *, column: str, lasting: timedelta, limit: int, **also: Any) -> list[Row]:
    """Up to `limit` of the due rows that nobody claims, in their order; `column` says until when they are claimed.

    A claim that has run out is none: its worker died. `also` are further values to write; the rows given back are as
    they were before.
    """
    now = timezone.now()
    free = Q(**{f"{column}__isnull": True}) | Q(**{f"{column}__lt": now})
    with transaction.atomic():
        rows = list(due.filter(free).select_for_update(skip_locked=True, of=("self",))[:limit])
        mine = due.model._default_manager.filter(pk__in=[row.pk for row in rows])
        mine.update(**{column: now + lasting}, **also)
    return rows
