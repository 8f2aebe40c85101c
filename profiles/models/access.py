"""Who looked at whom."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memory.person import Person

KEPT = timedelta(days=2 * 365)


class Sight(models.TextChoices):
    """What was looked at."""

    LIST = "list", _("a list of people")
    PROFILE = "profile", _("the profile")
    WORK = "work", _("tasks")
    REPORT = "report", _("a report")


class LookQuerySet(models.QuerySet["Look"]):
    def at(self, subject: Person) -> Self:
        """The looks of others at `subject`."""
        return self.filter(subject_id=subject.pk)

    def record(self, viewer: Person, subjects: Iterable[int | None], *, sight: Sight) -> None:
        """Notes that `viewer` was shown these people, by their ids. Looking at oneself is nobody's business."""
        others = sorted({pk for pk in subjects if pk is not None and pk != viewer.pk})
        self.bulk_create(Look(viewer_id=viewer.pk, subject_id=pk, sight=sight) for pk in others)

    def sweep(self) -> int:
        """Deletes what is older than two years; how many rows went."""
        return self.filter(at__lt=timezone.now() - KEPT).delete()[0]


class Look(models.Model):
    """One look at somebody else's profile, work or report. The subject can read it; nobody can change it."""

    subject = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="looks_at_me")
    viewer = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="looks")
    sight = models.CharField(max_length=8, choices=Sight.choices)
    at = models.DateTimeField(default=timezone.now, db_index=True)

    objects = LookQuerySet.as_manager()

    class Meta:
        ordering = ("-at", "-pk")
        indexes = (models.Index(fields=["subject", "-at", "-id"], name="look_of_subject"),)

    def __str__(self) -> str:
        return f"look {self.pk}"
