"""What is worth keeping of conversations: episodes, and the entities and relations in them. All of it is redacted."""

import hashlib
import uuid
from typing import Self, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memory.models.conversation import Conversation, Turn
from memory.person import Person
from memory.retrieval.tokens import fold


class EpisodeStatus(models.TextChoices):
    """Only active ones are recalled; archived ones are still found by a search."""

    ACTIVE = "active", _("active")
    SUPERSEDED = "superseded", _("superseded")
    ARCHIVED = "archived", _("archived")
    MERGED = "merged", _("merged")


class EpisodeOrigin(models.TextChoices):
    """Who made an episode, and from what."""

    EXTRACTED = "extracted", _("from a conversation")
    EXTRACTIVE = "extractive", _("from a conversation, without a model")
    SAID = "said", _("asked to be remembered")
    MANUAL = "manual", _("written by hand")
    TOOL = "tool", _("from a tool")


Owned = TypeVar("Owned", bound=models.Model)
MADE_BY_JOBS = (EpisodeOrigin.EXTRACTED, EpisodeOrigin.EXTRACTIVE)


class EpisodeQuerySet(models.QuerySet["Episode"]):
    def of(self, user: Person) -> Self:
        """The episodes of `user`, nobody else's whatever their rank, without those that are being deleted."""
        return self.held_for(user).filter(deleting_until=None)

    def held_for(self, user: Person) -> Self:
        """The same with those whose deletion can still be taken back: for whoever takes all there is."""
        return self.filter(user_id=user.pk) if user.pk else self.none()

    def recalled(self) -> Self:
        """Those that a turn may be given."""
        return self.filter(status=EpisodeStatus.ACTIVE, deleting_until=None)


class Episode(models.Model):
    """The account of a stretch of conversation, or a sentence that somebody wanted remembered.

    `from_seq` to `to_seq` are the messages of `conversation` that it accounts for; both are empty for one written by
    hand. `edited`: its owner changed it, and no job does any more. `corrected`: the summary too, so that it is told in
    the place of the turns it was made from. One that says the same as another is kept as `merged` into it, with its own
    sources, and takes its place when the other goes. `kept_apart`: its owner took it out of another, so that no job
    merges it again. `deleting_until`: its owner deleted it and may take that back until
    then; meanwhile it is nowhere to be seen.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="episodes")
    conversation = models.ForeignKey(
        Conversation, null=True, blank=True, on_delete=models.CASCADE, related_name="episodes"
    )
    flow_id = models.BigIntegerField(null=True, blank=True)
    from_seq = models.PositiveIntegerField(null=True, blank=True)
    to_seq = models.PositiveIntegerField(null=True, blank=True)
    turns = models.ManyToManyField(Turn, related_name="episodes", blank=True)
    title = models.CharField(max_length=120)
    summary = models.TextField()
    keywords = models.JSONField(default=list, blank=True)
    importance = models.PositiveSmallIntegerField(default=3)
    status = models.CharField(max_length=10, choices=EpisodeStatus.choices, default=EpisodeStatus.ACTIVE)
    origin = models.CharField(max_length=10, choices=EpisodeOrigin.choices)
    pinned = models.BooleanField(default=False)
    edited = models.BooleanField(default=False)
    corrected = models.BooleanField(default=False)
    kept_apart = models.BooleanField(default=False)
    merged_into = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="merged")
    fingerprint = models.CharField(max_length=64)
    occurred_from = models.DateTimeField()
    occurred_to = models.DateTimeField()
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    deleting_until = models.DateTimeField(null=True, blank=True)

    objects = EpisodeQuerySet.as_manager()

    class Meta:
        ordering = ("-occurred_to", "-pk")
        indexes = (
            models.Index(fields=["user", "status", "-occurred_to"], name="episode_recent"),
            models.Index(
                fields=["deleting_until"], condition=Q(deleting_until__isnull=False), name="episode_being_deleted"
            ),
        )
        constraints = (
            # However often a job is killed and begun again, a stretch gives one episode.
            models.UniqueConstraint(
                fields=["conversation", "from_seq"], condition=Q(origin__in=MADE_BY_JOBS), name="episode_once_a_stretch"
            ),
            models.UniqueConstraint(
                fields=["user", "fingerprint"],
                condition=Q(status="active", deleting_until=None),
                name="episode_said_once",
            ),
        )

    def __str__(self) -> str:
        return f"episode {self.pk}"


def fingerprint_of(summary: str) -> str:
    """The same for texts that differ in case, width, blanks and marks alone."""
    letters = "".join(character for character in fold(summary) if character.isalnum())
    return hashlib.sha256((letters or summary).encode()).hexdigest()


class EntityKind(models.TextChoices):
    """What a name names."""

    PERSON = "person", _("person")
    ORGANISATION = "organisation", _("organisation")
    PROJECT = "project", _("project")
    PRODUCT = "product", _("product")
    PLACE = "place", _("place")
    CODE = "code", _("code")
    OTHER = "other", _("other")


class OwnedQuerySet(models.QuerySet[Owned]):
    def of(self, user: Person) -> Self:
        """The rows of `user`, nobody else's."""
        return self.filter(user_id=user.pk) if user.pk else self.none()


class Entity(models.Model):
    """A name in somebody's memory. Two people's "Project A" are two entities: they never meet."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="entities")
    name = models.CharField(max_length=120)
    key = models.CharField(max_length=120)
    kind = models.CharField(max_length=12, choices=EntityKind.choices, default=EntityKind.OTHER)
    episodes = models.ManyToManyField(Episode, related_name="entities", blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects = OwnedQuerySet["Entity"].as_manager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["user", "key"], name="entity_once_an_owner"),)
        verbose_name_plural = "entities"

    def __str__(self) -> str:
        return f"entity {self.pk}"


def key_of(name: str) -> str:
    """How a name is told from others: without case, width and blanks."""
    return squeezed(name)[:120]


def squeezed(text: str) -> str:
    """A text in which keys of names are looked for."""
    return "".join(fold(text).split())


class Relation(models.Model):
    """`source` stands in `relation` to `target` since `valid_from`, and no longer since `invalid_at` if that is set."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="relations")
    source = models.ForeignKey(Entity, on_delete=models.CASCADE, related_name="relations_out")
    relation = models.CharField(max_length=60)
    target = models.ForeignKey(Entity, on_delete=models.CASCADE, related_name="relations_in")
    episodes = models.ManyToManyField(Episode, related_name="relations", blank=True)
    valid_from = models.DateTimeField()
    invalid_at = models.DateTimeField(null=True, blank=True)

    objects = OwnedQuerySet["Relation"].as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["user", "source", "relation", "target"], name="relation_once_an_owner"),
        )

    def __str__(self) -> str:
        return f"relation {self.pk}"
