"""Making reports. The rows that wait are the queue: what a tick of beat misses, or a worker that dies, costs only time.

A report is claimed, counted, put into words outside any transaction, and stored by one statement that finds it claimed
by the same worker and its subject still below whoever asked. Only then is it readable. A model that cannot be reached
is tried again; in the end the report is figures and evidence alone, and says so.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import structlog
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

import llm
from llm.errors import ProviderError
from llm.profile import Profile
from llm.types import ChatRequest
from memory.extraction import Unusable
from memory.models import JobKind
from memory.spending import spent
from profiles.models import EvaluationReport, ReportStatus, figures_of, zone_of
from profiles.models.reports import UNFINISHED_REPORTS, EvaluationReportQuerySet
from profiles.reports.answer import read, standing
from profiles.reports.claims import Claim
from profiles.reports.evidence import WORK, Evidence, fingerprint, gather
from profiles.reports.metrics import Stretch, metrics_of, work_of
from profiles.reports.period import Period
from profiles.reports.prompt import MOST_CLAIMS, PROMPT_VERSION, asked_again, question
from profiles.signals import report_ready

logger = structlog.get_logger(__name__)
CLAIM, WRITING = timedelta(minutes=1), timedelta(minutes=11)
"""How long a worker has a report to itself: longer than counting takes, and than one call of a model may. The report of
one that was killed is due again after it.
"""
ATTEMPTS = 3
WAIT = timedelta(seconds=10)
"""After a failure, doubled each time."""
CLAIMED, COUNTED, WRITTEN, WHOLE = 10, 40, 90, 100
"""Per cent."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What a report is made of."""

    metrics: dict[str, Any]
    evidence: Evidence
    zone: ZoneInfo
    profile_version: int

    @property
    def has_work(self) -> bool:
        return any(item["kind"] == WORK for item in self.evidence)


@dataclass(frozen=True, slots=True)
class Words:
    """The claims that stand, and how many do not. `note` says why there are none, `model` who wrote them."""

    claims: tuple[Claim, ...] = ()
    struck: int = 0
    note: str = ""
    model: str = ""


def make_due_reports(*, limit: int = 20) -> int:
    """Makes up to `limit` reports, one after the other; how many were claimed."""
    made = 0
    while made < limit and (report := _claimed()) is not None:
        _make(report)
        made += 1
    return made


def basis_of(report: EvaluationReport) -> Basis:
    """Figures and evidence of the report's period, up to the moment it was asked for: the same whenever it is made."""
    zone = zone_of(report.subject)
    since, until = Period(report.period_start, report.period_end).moments(zone)
    stretch = Stretch(report.subject, since, min(until, report.created_at))
    metrics = metrics_of(stretch) | {"zone": zone.key}
    evidence = gather(report.subject, metrics, work_of(stretch))
    return Basis(metrics, evidence, zone, figures_of(report.subject).profile_version)


def contents(basis: Basis, words: Words) -> dict[str, Any]:
    """The fields of a report that is ready."""
    return {
        "status": ReportStatus.READY,
        "progress": WHOLE,
        "metrics": basis.metrics,
        "evidence": basis.evidence,
        "narrative": [{"text": claim.text, "refs": list(claim.refs)} for claim in words.claims],
        "narrative_note": words.note,
        "struck_claims": words.struck,
        "model": words.model,
        "prompt_version": PROMPT_VERSION,
        "profile_version": basis.profile_version,
        "inputs_hash": fingerprint(basis.metrics, basis.evidence, PROMPT_VERSION),
    }


def _claimed() -> EvaluationReport | None:
    """The report that has waited longest, claimed; those that failed too often are closed on the way."""
    now = timezone.now()
    free = Q(claimed_until=None) | Q(claimed_until__lt=now)
    with transaction.atomic():
        waiting = EvaluationReport.objects.filter(free, status__in=UNFINISHED_REPORTS)
        waiting.filter(attempts__gte=ATTEMPTS).update(status=ReportStatus.FAILED, error_code="job_failed")
        due = waiting.select_for_update(skip_locked=True, of=("self",)).order_by("created_at", "pk")
        report = due.select_related("subject", "requested_by").first()
        if report is None:
            return None
        report.attempts += 1
        claim = {"status": ReportStatus.RUNNING, "progress": CLAIMED, "claimed_until": now + CLAIM}
        EvaluationReport.objects.filter(pk=report.pk).update(attempts=report.attempts, **claim)
    return report


def _make(report: EvaluationReport) -> None:
    """One attempt. Whatever goes wrong leaves the report in the queue, until it has gone wrong three times."""
    try:
        if _fails_closed(report):
            return
        basis = basis_of(report)
        _ours(report).update(progress=COUNTED)
        words = _words(report, basis)
        _ours(report).update(progress=WRITTEN, claimed_until=timezone.now() + CLAIM)
        _store(report, basis, words)
    except ProviderError as error:
        logger.warning("no narrative yet", report_id=str(report.pk), error=error.code)
        _postpone(report)
    except BaseException as error:
        logger.warning("report not made", report_id=str(report.pk), error=type(error).__name__)
        _postpone(report)
        raise


def _ours(report: EvaluationReport) -> EvaluationReportQuerySet:
    """The row, as long as nobody else has claimed it since."""
    return EvaluationReport.objects.filter(pk=report.pk, attempts=report.attempts, status=ReportStatus.RUNNING)


def _fails_closed(report: EvaluationReport) -> bool:
    """Whether the subject does not stand below whoever asked any more: then nothing is made, or kept."""
    asker = report.requested_by
    if asker is not None and EvaluationReport.objects.below(asker).filter(pk=report.pk).exists():
        return False
    _ours(report).update(status=ReportStatus.FAILED, error_code="not_in_line")
    return True


def _words(report: EvaluationReport, basis: Basis) -> Words:
    """Raises ProviderError for a model that is to be tried again later."""
    profile = llm.resolve_profile()
    if not basis.has_work:
        return Words(note="nothing_happened")
    if profile.provider == "offline":
        return Words(note="no_model")
    try:
        claims, model = _written(report, basis, profile)
    except ProviderError as error:
        if report.attempts < ATTEMPTS and not error.permanent:
            raise
        logger.warning("no narrative", report_id=str(report.pk), error=error.code)
        return Words(note="model_failed")
    except Unusable as error:
        logger.warning("no narrative", report_id=str(report.pk), error=error.code)
        return Words(note="model_unusable")
    kept = standing(claims, basis.evidence, basis.zone)
    note = "" if kept else "all_struck" if claims else "model_unusable"
    return Words(kept, len(claims) - len(kept), note, model)


def _written(report: EvaluationReport, basis: Basis, profile: Profile) -> tuple[list[Claim], str]:
    """The claims of the model and its name, asked once more for an answer that is unusable.

    Raises ProviderError or Unusable.
    """
    room = profile.context_tokens // 2
    request = question(basis.evidence, language=report.language, zone=basis.zone, room=room)
    completion = _asked(report, request, profile)
    try:
        return read(completion, most=MOST_CLAIMS), completion.model
    except Unusable as error:
        again = asked_again(request, completion.text, fault=error.code, language=report.language)
    completion = _asked(report, again, profile)
    return read(completion, most=MOST_CLAIMS), completion.model


def _asked(report: EvaluationReport, request: ChatRequest, profile: Profile) -> llm.Completion:
    _ours(report).update(claimed_until=timezone.now() + WRITING)
    completion = llm.complete(request, profile=profile)
    if report.requested_by_id:
        spent(report.requested_by_id, JobKind.REPORT, completion.usage)
    return completion


@transaction.atomic
def _store(report: EvaluationReport, basis: Basis, words: Words) -> None:
    """Makes the report readable and tells whoever asked, unless somebody else has it or the line has changed."""
    if _ours(report).select_for_update().first() is None or _fails_closed(report):
        return
    _ours(report).update(**contents(basis, words), claimed_until=None)
    told = partial(report_ready.send, sender=EvaluationReport, user_id=report.requested_by_id, report_id=report.pk)
    transaction.on_commit(told)


def _postpone(report: EvaluationReport) -> None:
    """Gives the claim back for later, or the report up after the last attempt."""
    later: datetime = timezone.now() + WAIT * 2 ** (report.attempts - 1)
    _ours(report).filter(attempts__lt=ATTEMPTS).update(status=ReportStatus.PENDING, claimed_until=later)
    _ours(report).update(status=ReportStatus.FAILED, error_code="job_failed", claimed_until=None)
