"""Conversations and their turns: the truth of what was said. Redis holds a copy (`memory.window`)."""

import uuid
from datetime import timedelta
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Case, F, Q, Sum, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memory.models.owner import ForgetfulFlow, MemoryOwner
from memory.person import Person


class TurnStatus(models.TextChoices):
    """A turn is running, then ends in exactly one way; a replaced one is later superseded."""

    RUNNING = "running", _("running")
    COMPLETE = "complete", _("complete")
    STOPPED = "stopped", _("stopped")
    FAILED = "failed", _("failed")
    INTERRUPTED = "interrupted", _("interrupted")
    SUPERSEDED = "superseded", _("superseded")


REPLAYED = (TurnStatus.COMPLETE, TurnStatus.STOPPED, TurnStatus.INTERRUPTED)
"""Ends after which a turn with text is sent to the model again; a failed or empty one never is."""


SETTLING = timedelta(minutes=1)
"""An interrupted turn may still be given the text that its process had said."""


class TitleSource(models.TextChoices):
    """Who gave a session its title."""

    WORDS = "words", _("its first words")
    MODEL = "model", _("the model")
    PERSON = "person", _("its owner")


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def visible_to(self, user: Person) -> Self:
        """The conversations of `user`, nobody else's whatever their rank."""
        return self.filter(user_id=user.pk) if user.pk else self.none()

    def remembered(self) -> Self:
        """Those whose memory is on: the session's own, its owner's, and its owner's for the flow."""
        off = MemoryOwner.objects.filter(user=models.OuterRef("user"), memory_enabled=False)
        off_here = ForgetfulFlow.objects.filter(user=models.OuterRef("user"), flow_id=models.OuterRef("flow_id"))
        return self.filter(~models.Exists(off), ~models.Exists(off_here), memory_enabled=True)

    def with_counts(self) -> Self:
        """Adds `message_count`, the messages shown, and `running_turn_id`."""
        running = Turn.objects.filter(conversation=models.OuterRef("pk"), status=TurnStatus.RUNNING)
        counted = (
            Turn.objects.filter(conversation=models.OuterRef("pk"))
            .values("conversation")
            .annotate(total=Sum("messages"))
            .values("total")
        )
        return self.annotate(
            message_count=Coalesce(models.Subquery(counted), 0),
            running_turn_id=models.Subquery(running.values("pk")[:1]),
        )

    def matching(self, words: str) -> Self:
        """Those whose title or any message contains `words`, in any case of letters."""
        said = Turn.objects.filter(conversation=models.OuterRef("pk")).exclude(status=TurnStatus.SUPERSEDED)
        said = said.filter(Q(input__icontains=words) | Q(output__icontains=words))
        return self.filter(Q(title__icontains=words) | models.Exists(said))


class Conversation(models.Model):
    """One conversation of one user with one flow, called *session* outside.

    `last_seq` is the number of the newest message, `covers_seq` the newest one that the summary covers,
    `indexed_seq` the newest one that search has seen, `consolidated_seq` the newest one that an episode accounts for
    or that was passed over, `seen_seq` the newest one that its owner was shown;
    `revision` is raised by every change other than an append, so that a copy can be told stale. `epoch` rises when
    the session is erased or a turn is replaced: a job that began before stores nothing.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="conversations")
    flow_id = models.BigIntegerField()
    flow_name = models.CharField(max_length=120)
    flow_version = models.PositiveIntegerField()
    title = models.CharField(max_length=120, blank=True, default="")
    title_source = models.CharField(max_length=6, choices=TitleSource.choices, default=TitleSource.WORDS)
    title_attempts = models.PositiveSmallIntegerField(default=0)
    title_claimed_until = models.DateTimeField(null=True, blank=True)
    memory_enabled = models.BooleanField(default=True)
    important = models.BooleanField(default=False)
    summary = models.TextField(blank=True, default="")
    last_seq = models.PositiveIntegerField(default=0)
    covers_seq = models.PositiveIntegerField(default=0)
    indexed_seq = models.PositiveIntegerField(default=0)
    index_claimed_until = models.DateTimeField(null=True, blank=True)
    summary_claimed_until = models.DateTimeField(null=True, blank=True)
    summary_failures = models.PositiveSmallIntegerField(default=0)
    consolidated_seq = models.PositiveIntegerField(default=0)
    consolidation_claimed_until = models.DateTimeField(null=True, blank=True)
    consolidation_failures = models.PositiveSmallIntegerField(default=0)
    epoch = models.PositiveIntegerField(default=0)
    seen_seq = models.PositiveIntegerField(default=0)
    revision = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    last_active_at = models.DateTimeField(default=timezone.now)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        ordering = ("-last_active_at", "-pk")
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")
        indexes = (
            models.Index(fields=["user", "flow_id", "-last_active_at"], name="conversation_recent_in_flow"),
            models.Index(fields=["user", "-last_active_at"], name="conversation_recent"),
            # The queues of indexing and consolidation: what they have not caught up with. They stay almost empty.
            models.Index(
                fields=["user", "id"], condition=Q(indexed_seq__lt=F("last_seq")), name="conversation_unindexed"
            ),
            models.Index(
                fields=["last_active_at"],
                condition=Q(consolidated_seq__lt=F("last_seq")),
                name="conversation_unconsolidated",
            ),
        )

    def __str__(self) -> str:
        return f"session {self.pk}"


class TurnQuerySet(models.QuerySet["Turn"]):
    def visible_to(self, user: Person) -> Self:
        """The turns of `user`, nobody else's whatever their rank."""
        return self.filter(user_id=user.pk) if user.pk else self.none()

    def shown(self, conversation: Conversation) -> Self:
        """What the conversation's page shows, oldest first: everything that was not replaced."""
        of_owner = self.filter(conversation=conversation, user_id=conversation.user_id)
        return of_owner.exclude(status=TurnStatus.SUPERSEDED).order_by("seq")

    def replayable(self, conversation: Conversation) -> Self:
        """What the model is sent again, oldest first."""
        return self.shown(conversation).filter(status__in=REPLAYED).exclude(output="")


class Turn(models.Model):
    """One message of a user and the answer to it: messages `seq` and `seq + 1` of the conversation.

    `inputs` are the further inputs that its request named, `{name: text}`.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="turns")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="turns")
    flow_id = models.BigIntegerField()
    seq = models.PositiveIntegerField()
    client_turn_id = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001  # NULLs are never equal
    input = models.TextField()
    inputs = models.JSONField(default=dict, blank=True)
    output = models.TextField(blank=True, default="")
    status = models.CharField(max_length=12, choices=TurnStatus.choices, default=TurnStatus.RUNNING)
    memory_enabled = models.BooleanField(default=True)
    replaces = models.ForeignKey("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="replaced_by")
    waiting = models.UUIDField(null=True, blank=True)
    usage = models.JSONField(default=dict, blank=True)
    memory_used = models.JSONField(default=dict, blank=True)
    error_code = models.CharField(max_length=40, blank=True, default="")
    rating = models.CharField(max_length=4, blank=True, default="", choices=[("up", _("up")), ("down", _("down"))])
    rating_reason = models.TextField(blank=True, default="")
    shared_for_review = models.BooleanField(default=False)
    stop_requested = models.BooleanField(default=False)
    lease_until = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)
    messages = models.GeneratedField(
        expression=Case(
            When(status=TurnStatus.SUPERSEDED, then=Value(0)),
            When(output="", then=Value(1)),
            default=Value(2),
        ),
        output_field=models.PositiveSmallIntegerField(),
        db_persist=True,
    )

    objects = TurnQuerySet.as_manager()

    class Meta:
        ordering = ("conversation", "seq")
        constraints = (
            models.UniqueConstraint(fields=["conversation", "seq"], name="turn_seq_once"),
            models.UniqueConstraint(
                fields=["conversation"], condition=Q(status="running"), name="turn_one_running_per_session"
            ),
            models.UniqueConstraint(fields=["user", "flow_id", "client_turn_id"], name="turn_client_turn_id_once"),
        )
        # No index on the lease: running turns are found by the partial one above, and a renewal stays cheap.

    def __str__(self) -> str:
        return f"turn {self.pk}"

    @property
    def is_running(self) -> bool:
        return self.status == TurnStatus.RUNNING

    @staticmethod
    def unsettled() -> Q:
        """Turns that still change: running ones, and those that were interrupted just now."""
        just_now = Q(status=TurnStatus.INTERRUPTED, finished_at__gt=timezone.now() - SETTLING)
        return Q(status=TurnStatus.RUNNING) | just_now

    @property
    def is_unsettled(self) -> bool:
        """Whether this turn still changes; the same question as `unsettled`, of one that was read."""
        if self.status == TurnStatus.INTERRUPTED:
            return self.finished_at is not None and self.finished_at > timezone.now() - SETTLING
        return self.is_running

    @property
    def is_replayable(self) -> bool:
        """Whether the model is sent this turn again."""
        return self.status in REPLAYED and bool(self.output)

    @property
    def lease_is_dead(self) -> bool:
        """Whether the process that ran this turn has stopped renewing it."""
        return self.is_running and (self.lease_until is None or self.lease_until < timezone.now())

    def messages_shown(self) -> list[dict[str, Any]]:
        """The question, and the answer once it has text, as `{seq, role, content, ts, status, turn_id}`."""
        shared = {"status": self.status, "turn_id": self.pk}
        question = {"seq": self.seq, "role": "user", "content": self.input, "ts": self.started_at}
        answer = {
            "seq": self.seq + 1,
            "role": "assistant",
            "content": self.output,
            "ts": self.finished_at or self.started_at,
        }
        return [message | shared for message in ([question, answer] if self.output else [question])]


def lease() -> Any:
    """Until when a turn may go without being renewed."""
    return timezone.now() + timedelta(seconds=settings.TURN_LEASE_SECONDS)
