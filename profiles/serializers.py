"""Shapes of the people API."""

from datetime import datetime
from typing import Any

from django.utils.timezone import is_naive
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory.fields import Line, SafeText, Strict
from profiles.models import Look, Sight, UserProfile, WorkEvent, WorkStatus, WorkTask


class Credentials(Strict):
    username = SafeText(max_length=150)
    password = SafeText(max_length=1000)


class Token(serializers.Serializer[Any]):
    token = serializers.CharField()
    expiry = serializers.DateTimeField()


class Moment(serializers.DateTimeField):
    """A time that says its zone: without one it would be taken for UTC, hours from what was meant."""

    default_error_messages = {"naive": _("Name the time zone, as in 2026-12-05T10:00:00Z.")}

    def enforce_timezone(self, value: datetime) -> datetime:
        if is_naive(value):
            self.fail("naive")
        return super().enforce_timezone(value)


class PeopleQuery(Strict):
    """Filters of the list of people: a part of the name, an alias or its pinyin; those one may give work to."""

    q = SafeText(required=False, max_length=200)
    assignable = serializers.BooleanField(required=False, default=False)


class PersonSerializer(serializers.ModelSerializer[UserProfile]):
    """Somebody as the directory shows them."""

    user_id = serializers.IntegerField(read_only=True)
    department = serializers.CharField(source="department_name", read_only=True)

    class Meta:
        model = UserProfile
        fields = ("user_id", "display_name", "department", "position")


class TaskQuery(Strict):
    """Filters of the list of tasks: `me`, `team` or the id of a person; a status."""

    assignee = SafeText(required=False, max_length=40)
    status = serializers.ChoiceField(required=False, choices=WorkStatus.choices)


class TaskStart(Strict):
    """A task to be given; without `assignee` to oneself. `client_key` makes sending it twice harmless."""

    title = Line(max_length=200)
    description = SafeText(required=False, allow_blank=True, max_length=5000)
    assignee = serializers.IntegerField(required=False, source="assignee_id")
    due_at = Moment(required=False, allow_null=True)
    client_key = Line(required=False, max_length=100)


class TaskChange(Strict):
    """What may be changed of a task: its status by the assignee, the rest by the creator."""

    title = Line(required=False, max_length=200)
    description = SafeText(required=False, allow_blank=True, max_length=5000)
    due_at = Moment(required=False, allow_null=True)
    status = serializers.ChoiceField(required=False, choices=WorkStatus.choices)


class EventSerializer(serializers.ModelSerializer[WorkEvent]):
    """One line of a task's history: who changed which field, from what to what."""

    actor = serializers.IntegerField(source="actor_id", allow_null=True)
    to = serializers.CharField(source="after")

    class Meta:
        model = WorkEvent
        fields = ("at", "actor", "field", "from", "to")

    def get_fields(self) -> dict[str, Any]:
        """One of them is called `from`, which Python keeps for itself."""
        self._declared_fields = {**self._declared_fields, "from": serializers.CharField(source="before")}
        return super().get_fields()


class TaskSerializer(serializers.ModelSerializer[WorkTask]):
    """A task with its history; people by their ids."""

    assignee = serializers.IntegerField(source="assignee_id")
    creator = serializers.IntegerField(source="creator_id", allow_null=True)
    source_turn_id = serializers.UUIDField(allow_null=True)
    history = EventSerializer(source="events", many=True)

    class Meta:
        model = WorkTask
        fields = (
            "id",
            "title",
            "description",
            "assignee",
            "creator",
            "status",
            "due_at",
            "created_at",
            "completed_at",
            "source_turn_id",
            "history",
        )


class ViewerSerializer(serializers.Serializer[Any]):
    user_id = serializers.IntegerField(source="pk")
    display_name = serializers.CharField()


class LookSerializer(serializers.ModelSerializer[Look]):
    """One look: by whom (null once their account is gone), at what, when."""

    viewer = serializers.SerializerMethodField()
    what = serializers.ChoiceField(source="sight", choices=Sight.choices)

    class Meta:
        model = Look
        fields = ("viewer", "what", "at")

    @extend_schema_field(ViewerSerializer(allow_null=True))
    def get_viewer(self, look: Look) -> dict[str, Any] | None:
        """`{user_id, display_name}`."""
        if look.viewer is None:
            return None
        profile = getattr(look.viewer, "profile", None)
        return {"user_id": look.viewer.pk, "display_name": str(profile or look.viewer)}
