"""What a person's export says of their profile and their work. Others stand in it by their numbers alone."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Q

from memory.person import Person
from profiles.models import EvaluationReport, Figures, FlowUse, Look, ProfileTag, UserProfile, WorkTask

PROFILE = (
    *("display_name", "position", "department_name", "manager_id", "aliases", "time_zone", "preferred_language"),
    *("role_tags", "preferred_llm_model", "communication_tone", "created_at"),
)
USE = ("turn_id", "session_id", "flow_id", "flow_name", "model", "at")
FIGURES = (
    *("total_conversations", "total_workflows_used", "favorite_workflows", "preferred_work_hours", "turns_counted"),
    *("total_tasks_assigned", "total_tasks_created", "tasks_counted", "tasks_done", "avg_task_completion_h"),
    *("task_completion_rate", "last_conversation_at", "profile_version", "last_updated_at"),
)
REPORT = (
    *("id", "period_start", "period_end", "state", "metrics", "evidence", "narrative", "narrative_note"),
    *("struck_claims", "model", "prompt_version", "profile_version", "inputs_hash", "created_at", "signed_by_id"),
    *("signed_at", "shared_at", "response"),
)
TASK = (
    *("id", "title", "description", "assignee_id", "creator_id", "status", "due_at", "created_at", "completed_at"),
    "source_turn_id",
)


def held(user: Person, **_: Any) -> dict[str, Any]:
    """`profile` (null without one), `tasks` given to or by the person, and `looks`: when somebody looked at them.

    `figures` are counted from `flow_uses` and tasks; `profile_tags` come with the memories that they were noticed in.
    `reports` are those about the person that were shared with them.
    """
    profile = UserProfile.objects.select_related("department").filter(pk=user.pk).first()
    return {
        "profile": profile and {name: getattr(profile, name) for name in PROFILE},
        "figures": Figures.objects.filter(pk=user.pk).values(*FIGURES).first(),
        "profile_tags": _tags(user),
        "flow_uses": _uses(user),
        "tasks": _tasks(user),
        "reports": _reports(user),
        "looks": list(Look.objects.at(user).order_by("pk").values("at", "sight", "viewer_id")),
    }


def _tasks(user: Person) -> Iterator[dict[str, Any]]:
    mine = WorkTask.objects.filter(Q(assignee_id=user.pk) | Q(creator_id=user.pk)).order_by("pk")
    yield from mine.values(*TASK)


def _reports(user: Person) -> Iterator[dict[str, Any]]:
    yield from EvaluationReport.objects.shared_with(user).order_by("created_at", "pk").values(*REPORT)


def _tags(user: Person) -> Iterator[dict[str, Any]]:
    for tag in ProfileTag.objects.of(user).order_by("pk").prefetch_related("evidence"):
        told = {name: getattr(tag, name) for name in ("kind", "value", "status", "shared", "count")}
        yield told | {"evidence": [episode.pk for episode in tag.evidence.all()]}


def _uses(user: Person) -> Iterator[dict[str, Any]]:
    mine = FlowUse.objects.of(user).order_by("at", "pk")
    yield from mine.values(*USE)
