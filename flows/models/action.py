"""What a run proposed and a person confirms: the card, the paused run behind it, and what was answered."""

import uuid
from datetime import datetime, timedelta
from typing import Self

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.utils import timezone

from memory.models import Turn, TurnStatus
from memory.person import Person


class ActionStatus(models.TextChoices):
    """An action is pending, then answered once, or it expires."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    EXPIRED = "expired"


def expiry() -> datetime:
    """Until when an action that is proposed now can be answered."""
    return timezone.now() + timedelta(hours=settings.ACTION_EXPIRE_HOURS)


class ActionQuerySet(models.QuerySet["Action"]):
    def visible_to(self, user: Person) -> Self:
        """The actions of `user`, nobody else's whatever their rank."""
        return self.filter(user_id=user.pk) if user.pk else self.none()


class Action(models.Model):
    """One proposal. `state` is the paused run (`flows.pausing`), `fields` what the person changed in `card`.

    The row is written before its turn ends as one that waits for it; a turn that ended otherwise, or was replaced
    since, leaves an action that nobody can answer. `status` is stored as it was last written: an action that stays
    pending after `expires_at` has expired without a write, so ask `shown_status`.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="actions")
    turn = models.OneToOneField(Turn, on_delete=models.CASCADE, related_name="action")
    kind = models.CharField(max_length=40)
    card = models.JSONField(encoder=DjangoJSONEncoder)
    state = models.JSONField(encoder=DjangoJSONEncoder)
    status = models.CharField(max_length=8, choices=ActionStatus.choices, default=ActionStatus.PENDING)
    fields = models.JSONField(default=dict, blank=True, encoder=DjangoJSONEncoder)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField(default=expiry)
    answered_at = models.DateTimeField(null=True, blank=True)
    result_turn = models.OneToOneField(
        Turn, null=True, blank=True, on_delete=models.SET_NULL, related_name="answered_action"
    )

    objects = ActionQuerySet.as_manager()

    class Meta:
        ordering = ("created_at", "pk")

    def __str__(self) -> str:
        return f"action {self.pk}"

    @property
    def is_answered(self) -> bool:
        return self.status in (ActionStatus.ACCEPTED, ActionStatus.DECLINED)

    @property
    def is_open(self) -> bool:
        """Whether it can be answered: its turn stands, ended as one that waits for it, and time is left."""
        waits = self.turn.status == TurnStatus.COMPLETE and self.turn.waiting == self.pk
        return self.status == ActionStatus.PENDING and waits and self.expires_at > timezone.now()

    @property
    def shown_status(self) -> str:
        """`pending`, `accepted`, `declined` or `expired`, as it stands now."""
        return str(self.status) if self.is_answered or self.is_open else str(ActionStatus.EXPIRED)
