"""What was noticed about a person, which is theirs to confirm or reject."""

import hashlib
from datetime import timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memory.models import Episode
from memory.person import Person
from memory.retrieval.tokens import fold

VALUE_CHARS = 40


class TagKind(models.TextChoices):
    """What a tag says something about."""

    STYLE = "style", _("how I work")
    EXPERTISE = "expertise", _("what I am good at")
    TOPIC = "topic", _("what I have been busy with")
    TONE = "tone", _("how I like to be spoken to")


class TagStatus(models.TextChoices):
    """A tag is suggested until its owner decides; one that was rejected never comes back."""

    SUGGESTED = "suggested", _("suggested")
    CONFIRMED = "confirmed", _("confirmed")
    REJECTED = "rejected", _("rejected")


class ProfileTagQuerySet(models.QuerySet["ProfileTag"]):
    def of(self, user: Person) -> Self:
        """The tags of `user`, nobody else's."""
        return self.filter(user_id=user.pk) if user.pk else self.none()

    def confirmed(self) -> Self:
        """Those that their owner stands by."""
        return self.filter(status=TagStatus.CONFIRMED)

    def stale(self, days: int) -> Self:
        """Suggestions that were last noticed `days` ago or longer, and that nobody has decided on."""
        return self.filter(status=TagStatus.SUGGESTED, noticed_at__lte=timezone.now() - timedelta(days=days))

    def shown(self) -> Self:
        """Those that their owner is shown: no suggestion whose last evidence is being deleted, nothing forgotten."""
        standing = Episode.objects.filter(tags=OuterRef("pk"), deleting_until=None)
        return self.exclude(value="").filter(Q(status=TagStatus.CONFIRMED) | Exists(standing))


class ProfileTag(models.Model):
    """One thing about one person, with the memories that it was noticed in.

    `count` is in how many memories; it outlives them. `noticed_at` is when the newest of them was read. When the last
    of them goes, a trigger (migration 0009) deletes a suggestion and empties the `value` of a rejected one: `key`, a
    hash, is enough to know it again. One that is `shared` is seen by the managers of its owner once it is confirmed;
    a tone never is.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="profile_tags")
    kind = models.CharField(max_length=10, choices=TagKind.choices)
    key = models.CharField(max_length=64)
    value = models.CharField(max_length=VALUE_CHARS, blank=True)
    status = models.CharField(max_length=9, choices=TagStatus.choices, default=TagStatus.SUGGESTED)
    shared = models.BooleanField(default=True)
    count = models.PositiveIntegerField(default=0)
    noticed_at = models.DateTimeField(default=timezone.now)
    evidence = models.ManyToManyField(Episode, related_name="tags", blank=True)

    objects = ProfileTagQuerySet.as_manager()

    class Meta:
        ordering = ("-count", "pk")
        constraints = (models.UniqueConstraint(fields=["user", "kind", "key"], name="profile_tag_once"),)
        indexes = (models.Index(fields=["noticed_at"], name="tag_suggested", condition=Q(status="suggested")),)

    def __str__(self) -> str:
        return f"tag {self.pk}"


def tag_key(value: str) -> str:
    """The same for values that differ in case, width, blanks and marks alone."""
    letters = "".join(character for character in fold(value) if character.isalnum())
    return hashlib.sha256((letters or value).encode()).hexdigest()
