"""Reports that wait for somebody: to be made, signed, shared or answered."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memory.person import Person
from profiles.models import EvaluationReport, ReportState, ReportStatus
from profiles.task_page import name_of

MOST = 8
ANSWERED_KEPT = timedelta(days=30)
"""How long after it was shared a report stays here that was answered."""
WAITS: dict[str, str | Promise] = {
    ReportStatus.PENDING: _("is being made"),
    ReportStatus.RUNNING: _("is being made"),
    ReportStatus.FAILED: _("could not be made"),
    ReportState.DRAFT: _("waits for your signature"),
    ReportState.SIGNED: _("is signed, not shared yet"),
    ReportState.SHARED: _("waits for an answer"),
    ReportState.ANSWERED: _("was answered"),
}


@dataclass(frozen=True, slots=True)
class WaitingReport:
    """A report, about whom it is, and what it waits for."""

    report: EvaluationReport
    subject: str
    waits: str | Promise


def reports_waiting(viewer: Person) -> Sequence[WaitingReport]:
    """The newest reports about those below `viewer` that somebody has to do something with, or that were answered.

    One that is being made, or could not be, is shown to whoever asked for it.
    """
    ready, recent = Q(status=ReportStatus.READY), Q(shared_at__gte=timezone.now() - ANSWERED_KEPT)
    waiting = ready & (~Q(state=ReportState.ANSWERED) | recent) | ~ready & Q(requested_by_id=viewer.pk)
    found = EvaluationReport.objects.below(viewer).filter(waiting).select_related("subject__profile")
    return [WaitingReport(report, name_of(report.subject), waits_for(report)) for report in found[:MOST]]


def waits_for(report: EvaluationReport) -> str | Promise:
    """How far the report is, in words."""
    return WAITS[report.state if report.status == ReportStatus.READY else report.status]
