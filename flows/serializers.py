"""Shapes of the flows API."""

from typing import Any

from django.conf import settings
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from flows.answering import Reply
from flows.conversation import Command
from flows.endings import sentence
from flows.markdown import render
from flows.models import ActionStatus, Flow
from flows.proposals import action_of
from memory.fields import ObjectId, SafeText, SafeTexts, Strict
from memory.models import Turn
from memory.models.conversation import TurnStatus


class FlowSerializer(serializers.ModelSerializer[Flow]):
    """A flow as the catalogue shows it, in the reader's language."""

    version = serializers.IntegerField(source="published_version")
    starters = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Flow
        fields = ("id", "slug", "name", "description", "icon", "category", "starters", "version")

    def to_representation(self, instance: Flow) -> dict[str, Any]:
        return super().to_representation(instance) | instance.shown()


class TurnStart(Strict):
    """The body that starts a turn, over REST and over the socket alike."""

    input = SafeText(max_length=settings.TURN_INPUT_CHARS)
    session_id = ObjectId(required=False, allow_null=True)
    client_turn_id = SafeText(required=False, allow_null=True, max_length=100)
    memory = serializers.BooleanField(required=False, allow_null=True)
    edit_of = ObjectId(required=False, allow_null=True)
    inputs = SafeTexts(required=False)

    def command(self, flow_id: int) -> Command:
        """The checked body as a command. Raises ValidationError, or NotFound for a malformed id."""
        self.is_valid(raise_exception=True)
        return Command(flow_id=flow_id, **self.validated_data)


class ActionAnswer(Strict):
    """The answer to a confirm card, over REST and over the socket alike; `fields` are what was changed in it."""

    accept = serializers.BooleanField()
    fields = serializers.DictField(required=False)  # type: ignore[assignment]  # the API's name, not the serializer's

    def reply(self) -> Reply:
        """The checked body. Raises ValidationError; what stands in `fields` is checked when the card is at hand."""
        self.is_valid(raise_exception=True)
        return Reply(self.validated_data["accept"], self.validated_data.get("fields", {}))


class ActionShown(serializers.Serializer[Any]):
    """A confirm card, and what became of it."""

    action_id = serializers.UUIDField()
    kind = serializers.CharField()
    card = serializers.DictField()
    status = serializers.ChoiceField(choices=ActionStatus.choices)
    fields = serializers.DictField()  # type: ignore[assignment]  # as above
    expires_at = serializers.DateTimeField()
    result_turn_id = serializers.UUIDField(allow_null=True)
    task_id = serializers.IntegerField(allow_null=True)


class TurnError(serializers.Serializer[Any]):
    code = serializers.CharField()
    detail = serializers.CharField()


class TurnSerializer(serializers.ModelSerializer[Turn]):
    """A turn as it stands now."""

    turn_id = serializers.UUIDField(source="pk")
    session_id = serializers.UUIDField(source="conversation_id")
    status = serializers.ChoiceField(choices=TurnStatus.choices)
    html = serializers.SerializerMethodField()
    usage = serializers.DictField(child=serializers.IntegerField())
    memory_used = serializers.DictField()
    error = serializers.SerializerMethodField()
    action = serializers.SerializerMethodField()

    class Meta:
        model = Turn
        fields = (
            "turn_id",
            "session_id",
            "seq",
            "status",
            "output",
            "html",
            "usage",
            "memory_used",
            "error",
            "waiting",
            "action",
        )

    def get_html(self, turn: Turn) -> str:
        return render(turn.output)

    @extend_schema_field(TurnError(allow_null=True))
    def get_error(self, turn: Turn) -> dict[str, str] | None:
        return {"code": turn.error_code, "detail": sentence(turn.error_code)} if turn.error_code else None

    @extend_schema_field(ActionShown(allow_null=True))
    def get_action(self, turn: Turn) -> dict[str, Any] | None:
        """The card that the turn ended with."""
        return action_of(turn)


class ExecuteResult(serializers.ModelSerializer[Turn]):
    """What a waiting caller gets."""

    output = serializers.CharField()
    session_id = serializers.UUIDField(source="conversation_id")
    turn_id = serializers.UUIDField(source="pk")
    usage = serializers.DictField(child=serializers.IntegerField())
    memory_used = serializers.DictField()
    action = serializers.SerializerMethodField()

    class Meta:
        model = Turn
        fields = ("output", "session_id", "turn_id", "status", "usage", "memory_used", "waiting", "action")

    @extend_schema_field(ActionShown(allow_null=True))
    def get_action(self, turn: Turn) -> dict[str, Any] | None:
        """The card that waits for an answer."""
        return action_of(turn)


class TurnStarted(serializers.Serializer[Any]):
    turn_id = serializers.UUIDField()


class FlowMemorySwitch(Strict):
    memory_enabled = serializers.BooleanField()


class Feedback(Strict):
    """A thumb, with a reason if there is one; `share` lets designers see the turn."""

    rating = serializers.ChoiceField(choices=["up", "down"])
    reason = SafeText(required=False, allow_blank=True, max_length=2000)
    share = serializers.BooleanField(required=False)
