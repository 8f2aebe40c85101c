"""Shapes of profiles in the API."""

from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from memory.fields import Line, Strict
from profiles.models import TagStatus
from profiles.models.people import validate_time_zone
from profiles.own_profile import SPOKEN, models_to_choose

DECIDED = [TagStatus.CONFIRMED, TagStatus.REJECTED]


class TagChange(Strict):
    """What is decided about one tag."""

    value = Line(max_length=40)
    status = serializers.ChoiceField(required=False, choices=DECIDED)
    shared = serializers.BooleanField(required=False)


class ProfileChange(Strict):
    """What the owner may change; everything else is counted, or a matter of the directory."""

    display_name = Line(required=False, max_length=80)
    aliases = serializers.ListField(required=False, child=Line(max_length=40), max_length=20)
    time_zone = Line(required=False, max_length=64, validators=[validate_time_zone])
    preferred_llm_model = Line(required=False, allow_blank=True, max_length=80)
    preferred_language = serializers.ChoiceField(required=False, choices=list(SPOKEN))
    communication_tone = Line(required=False, allow_blank=True, max_length=40)
    work_style_tags = TagChange(required=False, many=True)
    expertise_areas = TagChange(required=False, many=True)
    common_topics = TagChange(required=False, many=True)

    def validate_preferred_llm_model(self, name: str) -> str:
        """One that is set up, or the empty text for the organisation's own."""
        if name and name not in models_to_choose():
            raise serializers.ValidationError(_("No such model. Choose one that is set up, or leave it empty."))
        return name

    def validate_preferred_language(self, language: str) -> str:
        """As pages name it."""
        return SPOKEN[language]


class FlowCount(serializers.Serializer[Any]):
    flow_id = serializers.IntegerField()
    flow_name = serializers.CharField()
    count = serializers.IntegerField()


class Tag(serializers.Serializer[Any]):
    """`evidence` are ids of the owner's memories."""

    value = serializers.CharField()
    status = serializers.ChoiceField(choices=TagStatus.choices)
    shared = serializers.BooleanField()
    evidence = serializers.ListField(child=serializers.UUIDField())


class Topic(Tag):
    topic = serializers.CharField()
    count = serializers.IntegerField()


class SharedTag(serializers.Serializer[Any]):
    value = serializers.CharField()


class SharedTopic(serializers.Serializer[Any]):
    topic = serializers.CharField()
    count = serializers.IntegerField()


class _Figures(serializers.Serializer[Any]):
    """What both may know. A rate or a mean without data is null; `sample_sizes` says of how many tasks it was made."""

    user_id = serializers.IntegerField()
    display_name = serializers.CharField()
    department_name = serializers.CharField()
    position = serializers.CharField()
    manager = serializers.IntegerField(allow_null=True)
    aliases = serializers.ListField(child=serializers.CharField())
    role_tags = serializers.ListField(child=serializers.CharField())
    total_workflows_used = serializers.IntegerField()
    favorite_workflows = FlowCount(many=True)
    total_tasks_assigned = serializers.IntegerField()
    total_tasks_created = serializers.IntegerField()
    avg_task_completion_h = serializers.FloatField(allow_null=True)
    task_completion_rate = serializers.FloatField(allow_null=True)
    sample_sizes = serializers.DictField(child=serializers.IntegerField())


class SeenProfile(_Figures):
    """A profile as a manager sees it."""

    work_style_tags = SharedTag(many=True)
    expertise_areas = SharedTag(many=True)
    common_topics = SharedTopic(many=True)


class OwnProfile(_Figures):
    """A profile as its owner has it."""

    time_zone = serializers.CharField()
    total_conversations = serializers.IntegerField()
    preferred_work_hours = serializers.ListField(child=serializers.IntegerField())
    work_style_tags = Tag(many=True)
    expertise_areas = Tag(many=True)
    common_topics = Topic(many=True)
    preferred_llm_model = serializers.CharField()
    preferred_language = serializers.ChoiceField(choices=list(SPOKEN))
    communication_tone = serializers.CharField()
    profile_version = serializers.IntegerField()
    last_updated_at = serializers.DateTimeField(allow_null=True)
    last_conversation_at = serializers.DateTimeField(allow_null=True)
    created_at = serializers.DateTimeField()
