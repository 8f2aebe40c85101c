"""Erased sessions whose copies outside PostgreSQL may still stand."""

from django.conf import settings
from django.db import models
from django.utils import timezone


class Erasure(models.Model):
    """An erased session whose hot copy has still to be deleted: Redis was away. Beat drains these rows."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="erasures")
    flow_id = models.BigIntegerField()
    session_id = models.UUIDField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["session_id"], name="erasure_session_once"),)

    def __str__(self) -> str:
        return f"erasure of session {self.session_id}"
