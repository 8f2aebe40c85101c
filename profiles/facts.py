"""What flows tell about people: that something was done, never what was said."""

from dataclasses import dataclass
from uuid import UUID

from memory.person import Person
from profiles.models import FlowUse


@dataclass(frozen=True, slots=True)
class Ended:
    """A turn that ended, by its ids and names."""

    turn_id: UUID
    session_id: UUID
    flow_id: int
    flow_name: str
    model: str = ""


def turn_ended(user: Person, ended: Ended) -> None:
    """Notes that a turn of the user ended; a second time changes nothing."""
    fact = FlowUse(
        turn_id=ended.turn_id,
        user_id=user.pk,
        session_id=ended.session_id,
        flow_id=ended.flow_id,
        flow_name=ended.flow_name[:200],
        model=ended.model[:200],
    )
    FlowUse.objects.bulk_create([fact], ignore_conflicts=True)
