"""What jobs leave behind beside memory: stretches that they could not read, and the tokens that they spent."""

from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memory.models.conversation import Conversation
from memory.person import Person


class DeadLetter(models.Model):
    """A stretch of a session of which the model made nothing usable, however often it was asked.

    It has an extractive episode meanwhile. `retry_at` set: the job reads it once more. Holds no word of what was said.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="dead_letters")
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="dead_letters")
    from_seq = models.PositiveIntegerField(_("first message"))
    to_seq = models.PositiveIntegerField(_("last message"))
    error = models.CharField(_("fault"), max_length=40)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    retry_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(_("since"), default=timezone.now)

    class Meta:
        ordering = ("-created_at",)
        constraints = (models.UniqueConstraint(fields=["conversation", "from_seq"], name="dead_letter_once"),)
        verbose_name = _("unread stretch")
        verbose_name_plural = _("unread stretches")

    def __str__(self) -> str:
        return f"messages {self.from_seq} to {self.to_seq} of session {self.conversation_id}"


class JobKind(models.TextChoices):
    """What the tokens of a job were spent for."""

    TITLE = "title", _("titles")
    SUMMARY = "summary", _("summaries")
    EPISODE = "episode", _("memories")
    PROFILE = "profile", _("suggestions for your profile")
    REPORT = "report", _("reports about others")


class TokenUseQuerySet(models.QuerySet["TokenUse"]):
    def of(self, user: Person) -> Self:
        """What was spent for `user`."""
        return self.filter(user_id=user.pk) if user.pk else self.none()


class TokenUse(models.Model):
    """Tokens that background jobs spent for one person on one day (UTC). Those of turns stand with the turns."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="token_use")
    day = models.DateField()
    kind = models.CharField(max_length=8, choices=JobKind.choices)
    calls = models.PositiveIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)

    objects = TokenUseQuerySet.as_manager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["user", "day", "kind"], name="token_use_once_a_day"),)

    def __str__(self) -> str:
        return f"{self.kind} tokens of user {self.user_id} on {self.day}"
