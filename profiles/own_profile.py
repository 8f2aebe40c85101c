"""A profile as its owner has it: everything, and what they may change of it."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from llm.models import ProviderProfile
from memory.person import Person
from profiles import tags
from profiles.aggregation import aggregate
from profiles.errors import ProfileNotFound
from profiles.models import Figures, UserProfile, figures_of

PREFERENCES = (
    *("display_name", "aliases", "time_zone", "preferred_llm_model", "preferred_language", "communication_tone"),
)
"""Fields of the profile that are the owner's to set."""
COUNTED = (
    *("total_conversations", "total_workflows_used", "favorite_workflows", "preferred_work_hours"),
    *("total_tasks_assigned", "total_tasks_created", "avg_task_completion_h", "task_completion_rate"),
    *("profile_version", "last_updated_at", "last_conversation_at"),
)
SPOKEN = {"zh": "zh-hans", "en": "en"}
"""Languages as the API names them → as pages do. Nothing chosen counts as Chinese."""


def profile_of(user: Person) -> UserProfile:
    """The person's profile. Raises ProfileNotFound for an account without one."""
    found = UserProfile.objects.select_related("department", "manager__profile").filter(pk=user.pk).first()
    if found is None:
        raise ProfileNotFound
    return found


def own_profile(user: Person) -> dict[str, Any]:
    """All fields of P1 for the owner. Raises ProfileNotFound."""
    profile, figures = profile_of(user), figures_of(user)
    return (
        directory_fields(profile)
        | {"time_zone": profile.time_zone}
        | {name: getattr(figures, name) for name in COUNTED}
        | tags.own_tags(user)
        | {
            "preferred_llm_model": profile.preferred_llm_model,
            "preferred_language": "en" if profile.preferred_language == "en" else "zh",
            "communication_tone": profile.communication_tone,
            "sample_sizes": sample_sizes(figures) | {"preferred_work_hours": figures.turns_counted},
            "created_at": profile.created_at,
        }
    )


def directory_fields(profile: UserProfile) -> dict[str, Any]:
    """Who somebody is in the organisation."""
    return {
        "user_id": profile.pk,
        "display_name": profile.display_name,
        "department_name": profile.department_name,
        "position": profile.position,
        "manager": profile.manager_id,
        "aliases": profile.aliases,
        "role_tags": profile.role_tags,
    }


def sample_sizes(figures: Figures) -> dict[str, int]:
    """Of how many tasks a rate or a mean was made."""
    return {"task_completion_rate": figures.tasks_counted, "avg_task_completion_h": figures.tasks_done}


def models_to_choose() -> list[str]:
    """The models that a person may choose, by name."""
    return list(ProviderProfile.objects.filter(enabled=True).order_by("name").values_list("name", flat=True))


@transaction.atomic
def change(user: Person, wanted: Mapping[str, Any]) -> None:
    """Sets preferences and decides on tags, all of it or nothing. Raises ProfileNotFound or TagNotFound."""
    profile_of(user)
    preferences = {name: wanted[name] for name in PREFERENCES if name in wanted}
    if preferences:
        UserProfile.objects.filter(pk=user.pk).update(**preferences)
    for name, kind in tags.FIELDS.items():
        for tag in wanted.get(name, ()):
            tags.decide(user, tags.Decision(kind, tag["value"], tag.get("status"), tag.get("shared")))
    count_anew(user)


def count_anew(user: Person) -> None:
    """Raises the profile's version when the person changed something."""
    aggregate([user.pk])
