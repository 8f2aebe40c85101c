"""Work tasks and their history."""

from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memory.models import Turn
from memory.person import Person
from profiles.permissions import Act, policy


class WorkStatus(models.TextChoices):
    """The assignee moves a task through the first three; its creator may cancel it before it is done."""

    OPEN = "open", _("to do")
    IN_PROGRESS = "in_progress", _("in progress")
    DONE = "done", _("done")
    CANCELLED = "cancelled", _("cancelled")


UNFINISHED = (WorkStatus.OPEN, WorkStatus.IN_PROGRESS)


class WorkTaskQuerySet(models.QuerySet["WorkTask"]):
    def visible_to(self, user: Person) -> Self:
        """One's own, those of everybody below oneself, and those that one gave: these stay when the line changes."""
        if not user.pk:
            return self.none()
        return self.filter(Q(assignee_id__in=policy.ids(user, Act.SEE)) | Q(creator_id=user.pk))

    def of_team(self, user: Person) -> Self:
        """Those of everybody below `user`."""
        return policy.rows(self, user, Act.SEE, key="assignee_id").exclude(assignee_id=user.pk)

    def unfinished(self) -> Self:
        """Those that still wait for somebody."""
        return self.filter(status__in=UNFINISHED)

    def overdue(self, now: datetime | None = None) -> Self:
        """Those that should have been done before `now`."""
        return self.unfinished().filter(due_at__lt=now or timezone.now())

    def newly_overdue(self, now: datetime | None = None) -> Self:
        """Those of which nobody has been told yet that they are overdue: once for each moment that is set."""
        return self.overdue(now).filter(Q(overdue_told_for=None) | ~Q(overdue_told_for=F("due_at")))

    def by_urgency(self) -> Self:
        """The first due first, those without a date behind them, finished ones last, the newest of these first."""
        waiting = models.Case(models.When(status__in=UNFINISHED, then=F("due_at")))
        is_over = models.Case(models.When(status__in=UNFINISHED, then=0), default=1)
        return self.order_by(is_over, waiting.asc(nulls_last=True), F("completed_at").desc(nulls_last=True), "-pk")

    def unseen_by(self, user: Person) -> Self:
        """Work that others gave to `user` and that `user` has not been shown yet."""
        return self.filter(assignee_id=user.pk, seen_at=None).exclude(creator_id=user.pk).unfinished()


class WorkTask(models.Model):
    """A job given to a person.

    `client_key` is a name that its creator chose for the request, so that sending it twice makes one task.
    `source_turn` is the turn in which it was agreed; it is nulled when that is erased. `seen_at` is when the assignee
    was first shown it. `overdue_told_for` is the `due_at` of which it was told that it has passed.
    """

    title = models.CharField(_("title"), max_length=200)
    description = models.TextField(_("description"), max_length=5000, blank=True, default="")
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="tasks", verbose_name=_("for")
    )
    creator = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.SET_NULL,
        related_name="tasks_given",
        verbose_name=_("given by"),
    )
    status = models.CharField(_("status"), max_length=11, choices=WorkStatus.choices, default=WorkStatus.OPEN)
    due_at = models.DateTimeField(_("due"), null=True, blank=True)
    created_at = models.DateTimeField(_("given"), default=timezone.now)
    completed_at = models.DateTimeField(_("finished"), null=True, blank=True)
    seen_at = models.DateTimeField(null=True, blank=True)
    overdue_told_for = models.DateTimeField(null=True, blank=True, editable=False)
    source_turn = models.ForeignKey(Turn, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    client_key = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001  # NULLs are never equal

    objects = WorkTaskQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-pk")
        verbose_name = _("task")
        verbose_name_plural = _("tasks")
        constraints = (
            models.UniqueConstraint(fields=["creator", "client_key"], name="task_client_key_once"),
            models.CheckConstraint(
                condition=Q(status="done", completed_at__isnull=False) | ~Q(status="done") & Q(completed_at=None),
                name="task_completed_when_done",
            ),
        )
        indexes = (
            models.Index(fields=["assignee", "status", "due_at"], name="task_of_assignee"),
            models.Index(fields=["creator", "-created_at"], name="task_of_creator"),
            models.Index(fields=["due_at"], name="task_due", condition=Q(status__in=("open", "in_progress"))),
        )

    def __str__(self) -> str:
        return f"task {self.pk}"

    @property
    def is_unfinished(self) -> bool:
        return self.status in UNFINISHED

    @property
    def is_overdue(self) -> bool:
        """Whether it should have been done by now."""
        return self.is_unfinished and self.due_at is not None and self.due_at < timezone.now()


class WorkEvent(models.Model):
    """What happened to a task: `field` went from `before` to `after`; `created` has neither.

    Texts are not kept twice: for the description both are empty.
    """

    task = models.ForeignKey(WorkTask, on_delete=models.CASCADE, related_name="events")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    field = models.CharField(max_length=20)
    before = models.CharField(max_length=200, blank=True, default="")
    after = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        ordering = ("at", "pk")
        indexes = (
            models.Index(fields=["task", "at"], name="event_of_task"),
            models.Index(fields=["at"], name="event_recent"),
        )

    def __str__(self) -> str:
        return f"{self.field} of task {self.task_id}"
