"""What a person decided about their own memory."""

from django.conf import settings
from django.db import models


class MemoryOwner(models.Model):
    """One row per user, made when first needed: the switches, and the epoch that erasing raises.

    A job that was started in an older epoch must not write: it reads the epoch when it begins and again,
    under lock, in the transaction that stores its result.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="memory_owner"
    )
    memory_enabled = models.BooleanField(default=True)
    portrait_enabled = models.BooleanField(default=True)
    epoch = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"memory of user {self.pk}"
