"""Reports about how somebody's work went in a period."""

import uuid
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memory.person import Person
from profiles.permissions import Act, policy


class ReportStatus(models.TextChoices):
    """How far the job is."""

    PENDING = "pending", _("waiting")
    RUNNING = "running", _("being made")
    READY = "ready", _("ready")
    FAILED = "failed", _("failed")


class ReportState(models.TextChoices):
    """Whose hands it is in: the line's alone until it is shared."""

    DRAFT = "draft", _("draft")
    SIGNED = "signed", _("signed")
    SHARED = "shared", _("shared")
    ANSWERED = "answered", _("answered")


UNFINISHED_REPORTS = (ReportStatus.PENDING, ReportStatus.RUNNING)
WITH_SUBJECT = (ReportState.SHARED, ReportState.ANSWERED)
RESPONSE_CHARS = 5000


class EvaluationReportQuerySet(models.QuerySet["EvaluationReport"]):
    def below(self, user: Person) -> Self:
        """Those about everybody below `user`, whoever asked for them."""
        return policy.rows(self, user, Act.EVALUATE, key="subject_id")

    def shared_with(self, subject: Person) -> Self:
        """Those about `subject` that `subject` was given."""
        return self.filter(subject_id=subject.pk, state__in=WITH_SUBJECT) if subject.pk else self.none()

    def visible_to(self, user: Person) -> Self:
        """Those about everybody below `user`, and those about `user` that were shared."""
        if not user.pk:
            return self.none()
        mine = Q(subject_id=user.pk, state__in=WITH_SUBJECT)
        return self.filter(Q(subject_id__in=policy.ids(user, Act.EVALUATE)) | mine)

    def unseen_by(self, subject: Person) -> Self:
        """Those that `subject` was given and has not opened yet."""
        return self.shared_with(subject).filter(seen_at=None)


class EvaluationReport(models.Model):
    """Figures, evidence and a narrative about one person's work between two days of their own zone, both included.

    `metrics` is what `profiles/reports/metrics.py` counts, `evidence` a list of `{ref, kind, url?, …facts}`,
    `narrative` one of `{text, refs}`; `struck_claims` is how many claims were taken out, `narrative_note` why there
    is none. The row is the queue of the job: `claimed_until` belongs to the worker that made `attempts` what it is.
    `seen_at` is when the subject first opened it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    subject = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="reports_about")
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="reports_requested"
    )
    period_start = models.DateField(_("from"))
    period_end = models.DateField(_("to"))
    status = models.CharField(_("status"), max_length=7, choices=ReportStatus.choices, default=ReportStatus.PENDING)
    progress = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(_("state"), max_length=8, choices=ReportState.choices, default=ReportState.DRAFT)
    language = models.CharField(max_length=10, choices=settings.LANGUAGES, default="zh-hans")
    metrics = models.JSONField(default=dict)
    evidence = models.JSONField(default=list)
    narrative = models.JSONField(default=list)
    narrative_note = models.CharField(max_length=24, blank=True, default="")
    struck_claims = models.PositiveIntegerField(default=0)
    model = models.CharField(max_length=200, blank=True, default="")
    prompt_version = models.CharField(max_length=20, blank=True, default="")
    profile_version = models.PositiveIntegerField(default=0)
    inputs_hash = models.CharField(max_length=64, blank=True, default="")
    created_at = models.DateTimeField(_("asked for"), default=timezone.now)
    signed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="reports_signed"
    )
    signed_at = models.DateTimeField(_("signed"), null=True, blank=True)
    shared_at = models.DateTimeField(_("shared"), null=True, blank=True)
    seen_at = models.DateTimeField(null=True, blank=True)
    response = models.TextField(max_length=RESPONSE_CHARS, blank=True, default="")
    claimed_until = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    error_code = models.CharField(max_length=40, blank=True, default="")

    objects = EvaluationReportQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-pk")
        verbose_name = _("report")
        verbose_name_plural = _("reports")
        constraints = (
            models.CheckConstraint(condition=Q(period_start__lte=F("period_end")), name="report_period_runs_forward"),
            models.CheckConstraint(condition=Q(progress__lte=100), name="report_progress_in_per_cent"),
            models.CheckConstraint(condition=~Q(status="ready") | Q(progress=100), name="report_ready_is_whole"),
            models.CheckConstraint(condition=Q(state="draft") | Q(status="ready"), name="report_signed_when_ready"),
            models.CheckConstraint(
                condition=Q(state="draft", signed_at=None) | ~Q(state="draft") & Q(signed_at__isnull=False),
                name="report_signed_at_when_signed",
            ),
            models.CheckConstraint(
                condition=Q(state__in=("shared", "answered"), shared_at__isnull=False)
                | Q(state__in=("draft", "signed"), shared_at=None),
                name="report_shared_at_when_shared",
            ),
            models.CheckConstraint(
                condition=Q(state="answered") & ~Q(response="") | ~Q(state="answered") & Q(response=""),
                name="report_response_when_answered",
            ),
            models.UniqueConstraint(
                fields=["requested_by", "subject", "period_start", "period_end"],
                condition=Q(status__in=("pending", "running")),
                name="report_asked_for_once",
            ),
        )
        indexes = (
            models.Index(fields=["subject", "-created_at"], name="report_of_subject"),
            models.Index(fields=["created_at"], condition=Q(status__in=("pending", "running")), name="report_due"),
        )

    def __str__(self) -> str:
        return f"report {self.pk}"

    @property
    def is_unfinished(self) -> bool:
        """Whether the job still has it before it."""
        return self.status in UNFINISHED_REPORTS
