"""Querysets that every turn asks, written as SQL once: writing one takes Django longer than PostgreSQL to answer it."""

from collections.abc import Mapping
from typing import Any

from django.db import connection
from django.db.models import QuerySet


class Compiled:
    """The statement of a queryset of tuples, made with stand-ins and asked with other values in their place.

    `stand_ins` gives the name of each stand-in. They must be told apart from everything else in the statement,
    and be no None, which Django writes in another way; a value may be one, and finds nothing.
    """

    def __init__(self, queryset: QuerySet[Any, tuple[Any, ...]], *, stand_ins: Mapping[Any, str]) -> None:
        self._statement, parameters = queryset.query.sql_with_params()
        self._parameters = [(stand_ins.get(value), value) for value in parameters]
        missing = set(stand_ins.values()) - {name for name, _ in self._parameters}
        if missing:
            raise ValueError(f"not in the statement: {missing}")

    def first(self, **values: Any) -> tuple[Any, ...] | None:
        """The first row for these values."""
        parameters = [values[name] if name else fixed for name, fixed in self._parameters]
        with connection.cursor() as cursor:
            cursor.execute(self._statement, parameters)
            row: tuple[Any, ...] | None = cursor.fetchone()
        return row
