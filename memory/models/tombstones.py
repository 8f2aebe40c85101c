"""What must not come back: the turns that a deleted memory was made from, and the answers that it went into."""

from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone

from memory.models.conversation import Turn
from memory.models.episodes import Episode
from memory.person import Person


class TombstoneQuerySet(models.QuerySet["Tombstone"]):
    def of(self, user: Person) -> Self:
        """The tombstones of `user`."""
        return self.filter(user_id=user.pk) if user.pk else self.none()


class Tombstone(models.Model):
    """A turn from which a memory was deleted: it stays in its conversation, and is never found or extracted again.

    `answer_only`: the memory was not made from this turn but used by its answer, so that the question alone is found.
    `episode` is the memory while its deletion can be taken back. Several may stand on one turn, one for each memory.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tombstones")
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="tombstones")
    episode = models.ForeignKey(Episode, null=True, blank=True, on_delete=models.SET_NULL, related_name="tombstones")
    answer_only = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    objects = TombstoneQuerySet.as_manager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["turn", "episode"], name="tombstone_once_a_memory"),)

    def __str__(self) -> str:
        return f"tombstone of turn {self.turn_id}"
