"""Whose units a search may see, and which of them: decided in SQL, before anything is ranked."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.person import Person


@dataclass(frozen=True, slots=True)
class Scope:
    """One owner's units, perhaps those of one flow alone, perhaps without one session.

    What is archived is out of it unless `archived`.
    """

    user: Person
    flow_id: int | None = None
    except_session: UUID | None = None
    archived: bool = False

    @property
    def values(self) -> dict[str, Any]:
        """What the conditions below refer to."""
        return {"user": self.user.pk, "flow": self.flow_id, "session": self.except_session}

    @property
    def units(self) -> str:
        """The condition on rows of `memory_unit`; all of it stands in `unit_of_owner` and `unit_archived`."""
        flow = "" if self.flow_id is None else " AND flow_id = %(flow)s"
        session = "" if self.except_session is None else " AND conversation_id IS DISTINCT FROM %(session)s"
        return f"user_id = %(user)s{flow}{session}{self._unless_archived('id')}"

    @property
    def behind(self) -> str:
        """The condition on sessions that indexing is behind with."""
        return "user_id = %(user)s AND indexed_seq < last_seq AND id IS DISTINCT FROM %(session)s"

    @property
    def owned(self) -> str:
        """The condition on rows that carry `user_id` and `unit_id`."""
        return f"user_id = %(user)s{self._narrowed()}"

    def _narrowed(self) -> str:
        if self.flow_id is not None:
            return f" AND unit_id IN (SELECT id FROM memory_unit WHERE {self.units})"  # noqa: S608  # conditions of ours
        # The few units that are out, rather than the many that are in.
        own = "SELECT id FROM memory_unit WHERE conversation_id = %(session)s AND user_id = %(user)s"
        session = "" if self.except_session is None else f" AND unit_id NOT IN ({own})"
        return f"{session}{self._unless_archived('unit_id')}"

    def _unless_archived(self, column: str) -> str:
        """Its own index holds these alone, so that looking costs nothing where there are none."""
        out = "SELECT id FROM memory_unit WHERE user_id = %(user)s AND archived"
        return "" if self.archived else f" AND {column} NOT IN ({out})"
