"""Who may see, assign to and evaluate whom: one policy, asked for one person or for a whole table.

The reporting line alone decides, read anew each time: somebody who is nobody's manager any more sees nothing of
them from the next request on. Rank, departments and powers in the admin open nothing here.
"""

from enum import StrEnum
from typing import Any, TypeVar

from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

from memory.person import Person

Rows = TypeVar("Rows", bound="QuerySet[Any, Any]")


class Act(StrEnum):
    """What somebody may do with a person."""

    SEE = "see"
    """Directory fields, work, and what the person shares: oneself and everybody below oneself."""

    ASSIGN = "assign"
    """Give work to: the same people, as long as they can log in."""

    EVALUATE = "evaluate"
    """Write a report about: everybody below oneself, never oneself."""


# One recursive query: Django's query language has none. Whoever cannot log in has nobody below them. UNION leaves out
# what it has met before, so that it ends whatever the rows say.
_BELOW = """
    WITH RECURSIVE below (id) AS (
        SELECT line.user_id FROM profiles_userprofile line
        JOIN auth_user boss ON boss.id = line.manager_id AND boss.is_active
        WHERE line.manager_id = %s
        UNION
        SELECT line.user_id FROM profiles_userprofile line JOIN below ON line.manager_id = below.id
    )
"""
_SELF = "SELECT me.id FROM auth_user me WHERE me.id = %s AND me.is_active"
_QUERIES: dict[Act, tuple[str, int]] = {
    Act.SEE: (f"{_BELOW} SELECT id FROM below UNION ALL {_SELF}", 2),  # noqa: S608  # constants alone, here and below
    Act.ASSIGN: (
        f"{_BELOW} SELECT report.id FROM below JOIN auth_user report ON report.id = below.id AND report.is_active"  # noqa: S608
        f" UNION ALL {_SELF}",
        2,
    ),
    Act.EVALUATE: (f"{_BELOW} SELECT id FROM below", 1),  # noqa: S608
}
"""The ids of those that each act is open for, and how many times the query names whoever asks."""


class ReportingLine:
    """The policy. Both answers come from the same query, so that they cannot differ."""

    def ids(self, user: Person, act: Act) -> RawSQL:
        """The ids of those with whom `user` may do `act`, as a subquery for `…__in`."""
        sql, times = _QUERIES[act]
        return RawSQL(sql, [user.pk] * times)  # noqa: S611  # our own text; the id is a parameter

    def rows(self, people: Rows, user: Person, act: Act, *, key: str = "pk") -> Rows:
        """Those rows of `people` whose person, found under `key`, `user` may do `act` with."""
        return people.filter(**{f"{key}__in": self.ids(user, act)}) if user.pk else people.none()

    def allows(self, user: Person, act: Act, other: Person) -> bool:
        """Whether `user` may do `act` with `other`."""
        from django.contrib.auth.models import User  # models import this module

        return self.rows(User.objects.filter(pk=other.pk), user, act).exists()

    def rows_in_admin(self, people: Rows, user: Any, *, key: str = "pk") -> Rows:
        """What the admin lists: for those who run the installation every row, for everybody else what they may see."""
        return people if user.is_active and user.is_superuser else self.rows(people, user, Act.SEE, key=key)


policy = ReportingLine()
