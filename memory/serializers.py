"""Shapes of the memory API."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from memory.fields import ObjectId, SafeText, Strict
from memory.forgetting import Scope
from memory.models import Conversation, MemoryOwner
from memory.models.conversation import TurnStatus


class SessionQuery(Strict):
    """Filters of the list of sessions."""

    flow_id = serializers.IntegerField(required=False)
    q = SafeText(required=False, max_length=200)


class SessionSerializer(serializers.ModelSerializer[Conversation]):
    """A session as the list shows it. `message_count` and `running_turn_id` come from `with_counts`."""

    session_id = serializers.UUIDField(source="pk", read_only=True)
    flow_id = serializers.IntegerField(read_only=True)
    message_count = serializers.IntegerField(read_only=True)
    running_turn_id = serializers.UUIDField(read_only=True, allow_null=True)

    class Meta:
        model = Conversation
        fields = (
            "session_id",
            "flow_id",
            "flow_name",
            "title",
            "memory_enabled",
            "important",
            "created_at",
            "last_active_at",
            "message_count",
            "running_turn_id",
        )


class SessionChange(Strict):
    """What the owner may change of a session."""

    title = SafeText(required=False, max_length=120)
    memory_enabled = serializers.BooleanField(required=False)
    important = serializers.BooleanField(required=False)


class MessageSerializer(serializers.Serializer[dict[str, Any]]):
    """One message of a session."""

    seq = serializers.IntegerField()
    role = serializers.ChoiceField(choices=["user", "assistant"])
    content = serializers.CharField()
    ts = serializers.DateTimeField()
    status = serializers.ChoiceField(choices=TurnStatus.choices)
    turn_id = serializers.UUIDField()


class SessionDetailSerializer(SessionSerializer):
    """A session with one page of its messages."""

    messages = MessageSerializer(many=True, read_only=True)
    next = serializers.CharField(read_only=True, allow_null=True)

    class Meta(SessionSerializer.Meta):
        fields = (*SessionSerializer.Meta.fields, "summary", "messages", "next")  # type: ignore[assignment]


class ExportQuery(Strict):
    """How to export a session."""

    def get_fields(self) -> dict[str, Any]:
        """The parameter is called `as`, which Python keeps for itself."""
        return {"as": serializers.ChoiceField(choices=["markdown", "json"], default="markdown")}


class ShareSerializer(serializers.Serializer[Any]):
    url = serializers.URLField()
    created_at = serializers.DateTimeField()


class EraseRequest(Strict):
    """What to erase. A session needs its id, a flow its own."""

    scope = serializers.ChoiceField(choices=[scope.value for scope in Scope])
    session_id = ObjectId(required=False)
    flow_id = serializers.IntegerField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        needed = {Scope.SESSION: "session_id", Scope.FLOW: "flow_id"}.get(Scope(attrs["scope"]))
        if needed and needed not in attrs:
            raise serializers.ValidationError({needed: self.fields[needed].error_messages["required"]})
        # Erasing is final, so a body that names less than its scope takes is a mistake to ask about.
        narrower = {Scope.FLOW: ("session_id",), Scope.ALL: ("session_id", "flow_id")}.get(Scope(attrs["scope"]), ())
        if named := [name for name in narrower if name in attrs]:
            message = _("The scope would erase more than this names. Leave it out, or choose a narrower scope.")
            raise serializers.ValidationError(dict.fromkeys(named, message))
        return attrs


class RemovedSerializer(serializers.Serializer[Any]):
    turns = serializers.IntegerField()
    summaries = serializers.IntegerField()
    episodes = serializers.IntegerField()
    vectors = serializers.IntegerField()
    graph = serializers.IntegerField()
    keys = serializers.IntegerField()


class EraseReport(serializers.Serializer[Any]):
    """What went where; `pending` names stores that were away and are cleared later."""

    removed = RemovedSerializer()
    pending = serializers.ListField(child=serializers.CharField())


class SettingsSerializer(serializers.ModelSerializer[MemoryOwner]):
    """The owner's switches for all flows."""

    class Meta:
        model = MemoryOwner
        fields = ("memory_enabled", "portrait_enabled")


class SettingsChange(Strict):
    memory_enabled = serializers.BooleanField(required=False)
    portrait_enabled = serializers.BooleanField(required=False)
