"""What a person decided about their own memory."""

from collections.abc import Iterable
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F
from django.utils import timezone

from memory.person import Person


class ForgetfulFlowQuerySet(models.QuerySet["ForgetfulFlow"]):
    def of(self, user: Person) -> Self:
        """The flows that `user` switched memory off in."""
        return self.filter(user_id=user.pk) if user.pk else self.none()

    def switch(self, user: Person, *, flow_id: int, flow_name: str, memory: bool) -> None:
        """Turns the memory of one flow on or off for `user`."""
        if memory:
            self.of(user).filter(flow_id=flow_id).delete()
        else:
            self.get_or_create(user_id=user.pk, flow_id=flow_id, defaults={"flow_name": flow_name})


class ForgetfulFlow(models.Model):
    """One flow that one person switched memory off in: what they say there is not remembered, and nothing recalled."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False)
    flow_id = models.BigIntegerField()
    flow_name = models.CharField(max_length=120)
    created_at = models.DateTimeField(default=timezone.now)

    objects = ForgetfulFlowQuerySet.as_manager()

    class Meta:
        ordering = ("flow_id",)
        constraints = (models.UniqueConstraint(fields=["user", "flow_id"], name="forgetful_flow_once"),)

    def __str__(self) -> str:
        return f"no memory of user {self.user_id} in flow {self.flow_id}"


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
