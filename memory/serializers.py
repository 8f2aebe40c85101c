"""Shapes of the memory API."""

from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from memory.fields import Line, ObjectId, SafeText, Strict
from memory.forgetting import Scope
from memory.models import Conversation, Episode, EpisodeOrigin, EpisodeStatus, MemoryOwner
from memory.models.conversation import TurnStatus
from memory.retrieval.hits import Hit


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


class SearchQuery(Strict):
    """What is searched for, and how many results at most."""

    q = SafeText(max_length=2000)
    k = serializers.IntegerField(required=False, default=10, min_value=1, max_value=50)


class HitSerializer(serializers.Serializer[Hit]):
    """One result: what was said, when and where, and how each leg of the search found it."""

    kind = serializers.ChoiceField(choices=["turn", "episode", "passage"])
    id = serializers.UUIDField()
    title = serializers.CharField()
    text = serializers.CharField()
    quote = serializers.CharField()
    turn_ids = serializers.ListField(child=serializers.UUIDField())
    session_id = serializers.UUIDField(allow_null=True)
    score = serializers.FloatField()
    legs = serializers.DictField(child=serializers.FloatField(allow_null=True))
    occurred_at = serializers.DateTimeField()
    source = serializers.CharField()  # type: ignore[assignment]  # the API's word; the library means another


class FoundSerializer(serializers.Serializer[dict[str, Any]]):
    """The results, best first; `missing` names what was out of reach, `took_ms` is the time of the search."""

    results = HitSerializer(many=True)
    entities = serializers.ListField(child=serializers.DictField())
    relations = serializers.ListField(child=serializers.DictField())
    missing = serializers.ListField(child=serializers.CharField())
    took_ms = serializers.FloatField()


class SessionChange(Strict):
    """What the owner may change of a session."""

    title = Line(required=False, max_length=120)
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
    """What went where, and how many rows of which table; `pending` names stores that are cleared later."""

    removed = RemovedSerializer()
    tables = serializers.DictField(child=serializers.IntegerField())
    pending = serializers.ListField(child=serializers.CharField())


class SettingsSerializer(serializers.ModelSerializer[MemoryOwner]):
    """The owner's switches for all flows."""

    class Meta:
        model = MemoryOwner
        fields = ("memory_enabled", "portrait_enabled")


class SettingsChange(Strict):
    memory_enabled = serializers.BooleanField(required=False)
    portrait_enabled = serializers.BooleanField(required=False)


class EpisodeQuery(Strict):
    """Filters of the list of memories. `entity` is the id of a name in the graph."""

    q = SafeText(required=False, max_length=200)
    status = serializers.ChoiceField(required=False, choices=EpisodeStatus.choices)
    pinned = serializers.BooleanField(required=False)
    flow_id = serializers.IntegerField(required=False)
    origin = serializers.ChoiceField(required=False, choices=EpisodeOrigin.choices)
    entity = serializers.IntegerField(required=False)

    def get_fields(self) -> dict[str, Any]:
        """One parameter is called `from`, which Python keeps for itself."""
        spans = {name: serializers.DateTimeField(required=False) for name in ("from", "to")}
        return super().get_fields() | spans


class EntitySerializer(serializers.Serializer[Any]):
    """A name, and what it names."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    type = serializers.CharField(source="kind")


class NodeSerializer(serializers.Serializer[Any]):
    """A name on the map; `weight` is the number of memories that name it."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    type = serializers.CharField()
    weight = serializers.IntegerField()


class RelationSerializer(serializers.Serializer[Any]):
    """How one name stands to another, both as written."""

    id = serializers.IntegerField()
    source = serializers.CharField(source="source.name")  # type: ignore[assignment]  # a field of its own
    relation = serializers.CharField()
    target = serializers.CharField(source="target.name")
    valid_from = serializers.DateTimeField()
    invalid_at = serializers.DateTimeField(allow_null=True)


class EdgeSerializer(serializers.Serializer[Any]):
    """A relation on the map: `source` and `target` are ids of nodes."""

    id = serializers.IntegerField()
    source = serializers.IntegerField()  # type: ignore[assignment]  # a field of its own
    target = serializers.IntegerField()
    relation = serializers.CharField()
    valid_from = serializers.DateTimeField()
    invalid_at = serializers.DateTimeField(allow_null=True)
    episode_ids = serializers.ListField(child=serializers.UUIDField())


class GraphSerializer(serializers.Serializer[Any]):
    nodes = NodeSerializer(many=True)
    edges = EdgeSerializer(many=True)


class GraphQuery(Strict):
    q = SafeText(required=False, max_length=120)


class RelationChange(Strict):
    """From when until when a relation held; null: it still does."""

    valid_from = serializers.DateTimeField(required=False)
    invalid_at = serializers.DateTimeField(required=False, allow_null=True)


class EpisodeSerializer(serializers.ModelSerializer[Episode]):
    """A memory. `related` are the ids of those that share names with it, `turn_ids` where it came from."""

    session_id = serializers.UUIDField(source="conversation_id", allow_null=True, read_only=True)
    flow_id = serializers.IntegerField(allow_null=True, read_only=True)
    keywords = serializers.ListField(child=serializers.CharField(), read_only=True)
    turn_ids = serializers.SerializerMethodField()
    entities = EntitySerializer(many=True, read_only=True)
    relations = RelationSerializer(many=True, read_only=True)
    related = serializers.ListField(child=serializers.UUIDField(), read_only=True)

    class Meta:
        model = Episode
        fields = (
            *("id", "title", "summary", "keywords", "importance", "status", "pinned", "origin", "session_id"),
            *("flow_id", "turn_ids", "occurred_from", "occurred_to", "created_at", "updated_at"),
            *("entities", "relations", "related"),
        )

    def get_turn_ids(self, episode: Episode) -> list[UUID]:
        """The turns that it was made from, in their order."""
        return [turn.pk for turn in episode.turns.all()]


class EpisodeNew(Strict):
    """A memory that is written by hand."""

    summary = SafeText(max_length=4000)
    pinned = serializers.BooleanField(required=False, default=False)


class EpisodeChange(Strict):
    """What the owner may change of a memory."""

    title = Line(required=False, max_length=120)
    summary = SafeText(required=False, max_length=4000)
    keywords = serializers.ListField(required=False, child=Line(max_length=60), max_length=20)
    importance = serializers.IntegerField(required=False, min_value=1, max_value=5)
    pinned = serializers.BooleanField(required=False)
    status = serializers.ChoiceField(required=False, choices=[EpisodeStatus.ACTIVE, EpisodeStatus.ARCHIVED])
