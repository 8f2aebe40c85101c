"""What keeps the tree of departments and the reporting line free of circles."""

from typing import Any

from django.db import connection
from django.db.models import Model

LINES = 0x7AC17
"""The advisory lock under which lines change; the triggers of migration 0006 take the same."""


def lock_lines() -> None:
    """Lets one transaction at a time change lines: two that are harmless alone could close a circle together."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [LINES])


def is_cycle(model: type[Model], start: Any, *, up: str, to: Any) -> bool:
    """Whether `start` would come back to itself when its `up` pointed to `to`."""
    seen = set()
    while to is not None and to not in seen:
        if to == start:
            return True
        seen.add(to)
        to = model._default_manager.filter(pk=to).values_list(up, flat=True).first()
    return False
