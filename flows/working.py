"""How the nodes of one turn reach people and work: as the person who speaks, with plain values back."""

from dataclasses import dataclass
from datetime import UTC
from typing import Any

from django.utils import timezone

from flows import threads
from flows.models import Action
from flows.nodes.base import DueFound, PersonFound, Waiting, WorkToGive
from memory.models import Conversation, Turn
from memory.person import Person
from profiles import dates, naming, work
from profiles.models import Look, Sight, zone_of
from profiles.task_page import address_of


@dataclass(frozen=True, slots=True)
class Work:
    """`flows.nodes.base.Working` for one turn. Whoever is found by name is noted in their access log."""

    user: Person
    conversation: Conversation
    turn: Turn

    async def people_in(self, text: str) -> tuple[PersonFound, ...]:
        return await threads.run(_people, self.user, naming.people_in, text)

    async def people_called(self, name: str) -> tuple[PersonFound, ...]:
        return await threads.run(_people, self.user, naming.person_called, name)

    async def due_in(self, text: str) -> DueFound | None:
        found = await threads.run(dates.due_in, text, self.user)
        return DueFound(found.at, found.words) if found else None

    async def waiting(self) -> Waiting | None:
        if self.turn.seq == 1:
            return None
        return await threads.run(_waiting, self.user, self.conversation, self.turn)

    async def give(self, new: WorkToGive) -> dict[str, Any]:
        return await threads.run(_given, self.user, new, self.turn)


def _people(user: Person, find: Any, text: str) -> tuple[PersonFound, ...]:
    named: naming.Named = find(text, user)
    Look.objects.record(user, [person.pk for person in named.people], sight=Sight.LIST)
    return tuple(
        PersonFound(
            user_id=person.pk,
            display_name=person.display_name,
            department=person.department_name,
            position=person.position,
            said=named.said.get(person.pk, ""),
        )
        for person in named.people
    )


def _waiting(user: Person, conversation: Conversation, turn: Turn) -> Waiting | None:
    """What the turn before waits with. One that was put aside counts: by a turn that this one replaces."""
    before = Turn.objects.shown(conversation).filter(seq__lt=turn.seq).select_related("action").last()
    action: Action | None = getattr(before, "action", None)
    if before is None or action is None or action.is_answered or before.waiting != action.pk:
        return None
    in_time = action.expires_at > timezone.now()
    return Waiting(action.pk, action.kind, action.card, zone_of(user)) if in_time else None


def _given(user: Person, new: WorkToGive, turn: Turn) -> dict[str, Any]:
    task, _is_new = work.give(
        user,
        work.NewTask(
            title=new.title,
            assignee_id=new.assignee_id,
            description=new.description,
            due_at=new.due_at,
            client_key=new.client_key,
            source_turn_id=turn.pk,
        ),
    )
    return {
        "task_id": task.pk,
        "url": address_of(task.pk, is_mine=task.assignee_id == user.pk),
        "assignee": str(getattr(task.assignee, "profile", None) or task.assignee),
        "due_at": f"{task.due_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if task.due_at else None,
    }
