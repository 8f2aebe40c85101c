"""What was done, without a word of what was said, and the figures that are counted from it."""

from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone

from memory.person import Person


class FlowUseQuerySet(models.QuerySet["FlowUse"]):
    def of(self, user: Person) -> Self:
        """What `user` did."""
        return self.filter(user_id=user.pk) if user.pk else self.none()


class FlowUse(models.Model):
    """A turn of a flow that ended. It has no key to the turn: counts outlive the text."""

    turn_id = models.UUIDField(primary_key=True, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="flow_uses", db_index=False
    )
    session_id = models.UUIDField()
    flow_id = models.BigIntegerField()
    flow_name = models.CharField(max_length=200)
    model = models.CharField(max_length=200, blank=True, default="")
    at = models.DateTimeField(default=timezone.now)

    objects = FlowUseQuerySet.as_manager()

    class Meta:
        indexes = (
            models.Index(fields=["user", "-at"], name="flow_use_of_user"),
            models.Index(fields=["at"], name="flow_use_recent"),
        )

    def __str__(self) -> str:
        return f"use of flow {self.flow_id} by user {self.user_id}"


class Figures(models.Model):
    """The figures of one person, as `profiles/aggregation.py` counts them.

    What there is no data for is null, never 0 %. `tasks_counted` and `tasks_done` are the samples behind the rate and
    the mean, `turns_counted` the one behind the hours, which are of the day in the person's own zone. `basis` is a hash
    of the rest of the profile: `profile_version` rises when it or a figure changes. `checked_at`: what happened later
    is not counted yet. `insight_…`: how far the job that suggests tags has read, see `profiles/insight.py`.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="figures"
    )
    total_conversations = models.PositiveIntegerField(default=0)
    total_workflows_used = models.PositiveIntegerField(default=0)
    favorite_workflows = models.JSONField(default=list)
    preferred_work_hours = models.JSONField(default=list)
    turns_counted = models.PositiveIntegerField(default=0)
    total_tasks_assigned = models.PositiveIntegerField(default=0)
    total_tasks_created = models.PositiveIntegerField(default=0)
    tasks_counted = models.PositiveIntegerField(default=0)
    tasks_done = models.PositiveIntegerField(default=0)
    avg_task_completion_h = models.FloatField(null=True)
    task_completion_rate = models.FloatField(null=True)
    last_conversation_at = models.DateTimeField(null=True)
    basis = models.CharField(max_length=32, default="")
    profile_version = models.PositiveIntegerField(default=0)
    last_updated_at = models.DateTimeField(null=True)
    checked_at = models.DateTimeField(null=True)
    insight_until = models.DateTimeField(null=True)
    insight_claimed_until = models.DateTimeField(null=True)
    insight_failures = models.PositiveSmallIntegerField(default=0)

    class Meta:
        verbose_name_plural = "figures"

    def __str__(self) -> str:
        return f"figures of user {self.pk}"


def figures_of(user: Person) -> Figures:
    """The person's figures; empty ones before anything was counted."""
    return Figures.objects.filter(pk=user.pk).first() or Figures(user_id=user.pk)
