"""A profile as a manager sees it: one place for the API, the admin, and the page that shows it to the person (P4)."""

from typing import Any

from django.contrib.auth.models import User

from memory.person import Person
from profiles.errors import ProfileNotFound
from profiles.models import Look, Sight, TagKind, figures_of
from profiles.own_profile import directory_fields, profile_of, sample_sizes
from profiles.permissions import Act, policy
from profiles.tags import FIELDS, shared_tags

SEEN = (
    *("total_workflows_used", "favorite_workflows", "total_tasks_assigned", "total_tasks_created"),
    *("avg_task_completion_h", "task_completion_rate"),
)
"""Figures that are no evidence from chats and no hours."""


def as_manager_sees(subject: Person) -> dict[str, Any]:
    """Directory fields, work figures, flows used, and the tags and topics that the person confirmed and shares.

    Raises ProfileNotFound. Says nothing of whoever asks: `look_at` does.
    """
    figures, known = figures_of(subject), list(shared_tags(subject))
    return (
        directory_fields(profile_of(subject))
        | {name: getattr(figures, name) for name in SEEN}
        | {"sample_sizes": sample_sizes(figures)}
        | {name: [_seen(tag) for tag in known if tag.kind == kind] for name, kind in FIELDS.items()}
    )


def _seen(tag: Any) -> dict[str, Any]:
    return {"topic": tag.value, "count": tag.count} if tag.kind == TagKind.TOPIC else {"value": tag.value}


def look_at(viewer: Person, user_id: int) -> dict[str, Any]:
    """The profile of somebody below `viewer`, who is noted in the access log. Raises ProfileNotFound."""
    subject = User(pk=user_id)
    if user_id == viewer.pk or not policy.allows(viewer, Act.SEE, subject):
        raise ProfileNotFound
    seen = as_manager_sees(subject)
    Look.objects.record(viewer, [user_id], sight=Sight.PROFILE)
    return seen
