"""What is searched: units of one owner, the words that each is found by, and its vectors.

Whoever deletes a unit, by whatever route, deletes its postings and vectors: a trigger of the table does it in one
statement for any number of units (migration 0005).
"""

import uuid
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from memory.models.conversation import Conversation, Turn
from memory.models.episodes import Episode
from memory.person import Person


class UnitKind(models.TextChoices):
    """What a unit is made from."""

    TURN = "turn", _("turn")
    EPISODE = "episode", _("episode")


class UnitQuerySet(models.QuerySet["Unit"]):
    def of(self, user: Person) -> Self:
        """The units of `user`, nobody else's whatever their rank."""
        return self.filter(user_id=user.pk) if user.pk else self.none()


class Unit(models.Model):
    """One thing that can be found. Everything in it is redacted, and its text never changes.

    `text` is what may be shown and recalled: of a turn, the question, and from `answer_at` on the answer. `context` is
    the turn before it, shortened: it is searched, never shown. `length` counts tokens; `tokens_version` tells by which
    rules. `weight` is what it counts more or less for other reasons. `vector_due`: the embedder was away when it was
    stored. `archived`: a person who searches finds it, but no turn is given it.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="units", db_index=False)
    kind = models.CharField(max_length=8, choices=UnitKind.choices)
    turn = models.OneToOneField(Turn, null=True, blank=True, on_delete=models.CASCADE, related_name="unit")
    episode = models.OneToOneField(Episode, null=True, blank=True, on_delete=models.CASCADE, related_name="unit")
    conversation = models.ForeignKey(
        Conversation, null=True, blank=True, on_delete=models.CASCADE, related_name="units"
    )
    flow_id = models.BigIntegerField(null=True, blank=True)
    seq = models.PositiveIntegerField(default=0)
    occurred_at = models.DateTimeField()
    text = models.TextField()
    answer_at = models.PositiveIntegerField(default=0)
    context = models.TextField(blank=True, default="")
    length = models.PositiveIntegerField()
    tokens_version = models.PositiveSmallIntegerField()
    weight = models.FloatField(default=1.0)
    vector_due = models.BooleanField(default=False)
    archived = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    objects = UnitQuerySet.as_manager()

    class Meta:
        indexes = (
            # How many units an owner has in some scope and how long they are, without a look at the rows.
            models.Index(fields=["user", "flow_id", "id"], include=["length", "conversation"], name="unit_of_owner"),
            models.Index(fields=["tokens_version"], name="unit_tokens_version"),
            models.Index(fields=["id"], condition=Q(vector_due=True), name="unit_vector_due"),
            models.Index(fields=["user", "id"], condition=Q(archived=True), name="unit_archived"),
        )

    def __str__(self) -> str:
        return f"unit {self.pk}"

    @property
    def source_id(self) -> uuid.UUID:
        """The id of what the unit is made from."""
        source = self.turn_id or self.episode_id
        if source is None:
            raise ValueError(f"{self} is made from nothing")
        return source


class Posting(models.Model):
    """One token of one unit: `tf` times in `length` tokens.

    The primary key holds the rest of the row too, so that the words of a query are read from the index alone, where
    the postings of one owner stand together. The row has no foreign keys: checking a hundred of them for each unit
    costs more than all else, and postings are only written in the transaction that made or locked their unit.
    """

    pk = models.CompositePrimaryKey("user", "token", "unit")
    unit = models.ForeignKey(
        Unit, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="postings"
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    length = models.IntegerField()
    tf = models.SmallIntegerField()
    token = models.TextField(db_collation="C")

    class Meta:
        indexes = (models.Index(fields=["unit"], name="posting_of_unit"),)

    def __str__(self) -> str:
        return f"posting of unit {self.unit_id}"


class VectorModel(models.Model):
    """An embedding model that has been used, and how many numbers its vectors have. That never changes."""

    id = models.SmallAutoField(primary_key=True)
    name = models.CharField(max_length=200, unique=True)
    dimension = models.PositiveSmallIntegerField()

    def __str__(self) -> str:
        return self.name


class UnitVector(models.Model):
    """The vector of a unit by one model, of unit length. Those of several models may stand side by side."""

    pk = models.CompositePrimaryKey("user", "unit", "model")
    unit = models.ForeignKey(Unit, on_delete=models.DO_NOTHING, db_index=False, related_name="vectors")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    model = models.ForeignKey(VectorModel, on_delete=models.DO_NOTHING, db_index=False, related_name="vectors")
    embedding = HalfVectorField()

    def __str__(self) -> str:
        return f"vector of unit {self.unit_id}"
