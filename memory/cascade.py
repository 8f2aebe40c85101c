"""Deleting rows with everything that hangs on them, table by table: as many statements for a million rows as for one.

Django's own `delete` reads the rows first and deletes them a hundred at a time. This one asks the models which tables
refer to the rows, so that a table that is added later is covered too, and says what went from where.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib.auth import get_user_model
from django.db import models, transaction
from django.db.models import CASCADE, DO_NOTHING, SET_NULL

from memory.person import Person

Removed = Counter[str]
"""Table → how many rows."""


@transaction.atomic
def delete_rows(rows: "models.QuerySet[Any]") -> Removed:
    """Deletes `rows` and what refers to them, as the foreign keys of the models say; what went from which table.

    `rows` is not sliced. No signals of Django's are sent. Raises ProtectedError for a key that is neither to follow
    nor to null.
    """
    removed = Removed()
    for key in keys_to(rows.model):
        referring = key.model._base_manager.filter(**{f"{key.name}__in": rows.values(key.target_field.name)})
        if is_followed(key):
            removed += delete_rows(referring)
        elif key.remote_field.on_delete is SET_NULL:
            referring.update(**{key.name: None})
        elif key.remote_field.on_delete is not DO_NOTHING and referring.exists():
            raise models.ProtectedError(f"{key.model._meta.db_table} still refers to these rows.", set(referring[:1]))
    gone = rows.order_by()._raw_delete(rows.db) or 0  # None for what can hold no row
    return removed + Removed({rows.model._meta.db_table: gone})


def delete_owned(user: Person, *, packages: Sequence[str], keep: Sequence[type[models.Model]] = ()) -> Removed:
    """Deletes every row that has `user` as its owner in the tables of these packages, but those of `keep`."""
    removed = Removed()
    for key in keys_to(get_user_model()):
        if key.model._meta.app_label in packages and is_followed(key) and key.model not in keep:
            removed += delete_rows(key.model._base_manager.filter(**{key.name: user.pk}))
    return removed


def keys_to(model: type[models.Model]) -> Iterator[Any]:
    """The foreign keys, those of tables that only link included, that point to `model`."""
    for relation in model._meta.get_fields(include_hidden=True):
        if relation.auto_created and not relation.concrete and (relation.one_to_one or relation.one_to_many):
            yield relation.remote_field


def is_followed(key: Any) -> bool:
    """Whether rows go with what they refer to."""
    return bool(key.remote_field.on_delete is CASCADE)
