"""What a person decided about their own memory."""

from collections.abc import Iterable

from django.conf import settings
from django.db import models
from django.db.models import F

from memory.person import Person


class MemoryOwnerQuerySet(models.QuerySet["MemoryOwner"]):
    def lock(self, user: Person, *, raise_epoch: bool = False) -> None:
        """Locks the owner's row, made if need be, until the transaction ends.

        Whoever changes several episodes of an owner does it first, behind the lock of a session if it takes one.
        """
        self.lock_all([user.pk])
        if raise_epoch:
            self.filter(user_id=user.pk).update(epoch=F("epoch") + 1)

    def lock_all(self, user_ids: Iterable[int]) -> None:
        """The same for several owners, in one order for everybody."""
        ids = sorted(user_ids)
        self.make(ids)
        list(self.filter(pk__in=ids).select_for_update().order_by("pk").values_list("pk"))

    def make(self, user_ids: Iterable[int]) -> None:
        """Makes the rows that are missing."""
        self.bulk_create([self.model(user_id=pk) for pk in user_ids], ignore_conflicts=True)


class MemoryOwner(models.Model):
    """One row per user, made when first needed: the switches, and the epoch that erasing raises.

    A job that was started in an older epoch must not write: it reads the epoch when it begins and again,
    under lock, in the transaction that stores its result. `merged_until`: its episodes have been compared with each
    other up to this change of theirs.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="memory_owner"
    )
    memory_enabled = models.BooleanField(default=True)
    portrait_enabled = models.BooleanField(default=True)
    epoch = models.PositiveIntegerField(default=0)
    merged_until = models.DateTimeField(null=True, blank=True)

    objects = MemoryOwnerQuerySet.as_manager()

    def __str__(self) -> str:
        return f"memory of user {self.pk}"
