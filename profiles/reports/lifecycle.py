"""Reports about people: who may ask for one, read, sign, share and answer it.

Whoever stands above the subject now may do the first four, whoever wrote it, and nobody else: not its author once they
do not stand there any more. The subject is given it by sharing, and may answer. `profiles/reports/job.py` makes one.
"""

from contextlib import suppress
from functools import partial
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import get_language

from memory.person import Person
from profiles.errors import PersonNotFound, ReportNotFound, ReportNotReady, ReportNotSigned, ReportNotYours
from profiles.models import EvaluationReport, Look, ReportState, ReportStatus, Sight, UserProfile, zone_of
from profiles.models.reports import UNFINISHED_REPORTS, EvaluationReportQuerySet
from profiles.permissions import Act, policy
from profiles.reports.period import Period
from profiles.signals import report_ready


def request_report(user: Person, subject_id: int, period: Period) -> EvaluationReport:
    """The report that is being made: the one that `user` asked for already, or failed to get, or a new one.

    Raises PersonNotFound for whoever does not stand below `user`, PeriodRefused for days that make no period.
    """
    subject = User(pk=subject_id)
    if not policy.allows(user, Act.EVALUATE, subject):
        raise PersonNotFound
    period.check(timezone.localdate(timezone=zone_of(subject)))
    return _under_way(user, subject, period) or _again(user, subject, period) or _new(user, subject, period)


def reports_about(user: Person, subject_id: int | None = None) -> EvaluationReportQuerySet:
    """The reports that `user` may read, or those about one person, the newest first. Lists are for the caller to log.

    Raises PersonNotFound for somebody who is neither `user` nor below them.
    """
    visible = EvaluationReport.objects.visible_to(user).select_related(*_NAMED)
    if subject_id is None:
        return visible
    if subject_id != user.pk and not policy.allows(user, Act.EVALUATE, User(pk=subject_id)):
        raise PersonNotFound
    return visible.filter(subject_id=subject_id)


def report_for(user: Person, report_id: UUID) -> EvaluationReport:
    """The report as it stands, noted in the access log of its subject once there is something to read in it.

    Raises ReportNotFound.
    """
    report = EvaluationReport.objects.visible_to(user).select_related(*_NAMED).filter(pk=report_id).first()
    if report is None:
        raise ReportNotFound
    if report.subject_id == user.pk:
        EvaluationReport.objects.unseen_by(user).filter(pk=report_id).update(seen_at=timezone.now())
    elif report.status == ReportStatus.READY:
        Look.objects.record(user, [report.subject_id], sight=Sight.REPORT)
    return report


def progress_of(user: Person, report_id: UUID) -> tuple[ReportStatus, int]:
    """How far a report is, for those who wait: nothing of it is read, and nothing noted. Raises ReportNotFound."""
    found = EvaluationReport.objects.visible_to(user).filter(pk=report_id).values_list("status", "progress").first()
    if found is None:
        raise ReportNotFound
    return ReportStatus(found[0]), found[1]


def sign(user: Person, report_id: UUID) -> None:
    """Puts the name of `user` under a draft; nothing happens to one that is signed.

    Raises ReportNotFound, ReportNotYours, ReportNotReady.
    """
    mine = _to_decide_on(user, report_id)
    draft = mine.filter(status=ReportStatus.READY, state=ReportState.DRAFT)
    if not draft.update(state=ReportState.SIGNED, signed_by=user.pk, signed_at=timezone.now()):
        _refuse(mine, {ReportState.DRAFT: ReportNotReady})


@transaction.atomic
def share(user: Person, report_id: UUID) -> None:
    """Gives a signed report to its subject, who is told; nothing happens to one that was shared.

    Raises ReportNotFound, ReportNotYours, ReportNotSigned.
    """
    mine = _to_decide_on(user, report_id)
    if not mine.filter(state=ReportState.SIGNED).update(state=ReportState.SHARED, shared_at=timezone.now()):
        _refuse(mine, {ReportState.DRAFT: ReportNotSigned})
        return
    subject_id = mine.values_list("subject_id", flat=True).get()
    told = partial(report_ready.send, sender=EvaluationReport, user_id=subject_id, report_id=report_id)
    transaction.on_commit(told)


def respond(user: Person, report_id: UUID, text: str) -> None:
    """Keeps what the subject says of a report that was shared, in the place of what they said before.

    `text` has 1 to 5000 characters. Raises ReportNotFound, ReportNotYours.
    """
    mine = EvaluationReport.objects.shared_with(user).filter(pk=report_id)
    if not mine.update(state=ReportState.ANSWERED, response=text):
        _not_theirs(user, report_id)


_NAMED = ("subject__profile", "requested_by__profile", "signed_by__profile")


def _under_way(user: Person, subject: Person, period: Period) -> EvaluationReport | None:
    return _asked_for(user, subject, period).filter(status__in=UNFINISHED_REPORTS).first()


def _again(user: Person, subject: Person, period: Period) -> EvaluationReport | None:
    """The one that failed last, put into the queue once more."""
    failed = _asked_for(user, subject, period).filter(status=ReportStatus.FAILED).first()
    if failed is None:
        return None
    afresh = {"status": ReportStatus.PENDING, "progress": 0, "attempts": 0, "error_code": "", "claimed_until": None}
    with suppress(IntegrityError), transaction.atomic():  # when another request was first
        EvaluationReport.objects.filter(pk=failed.pk, status=ReportStatus.FAILED).update(
            **afresh, created_at=timezone.now(), language=_language(user)
        )
    return _under_way(user, subject, period)


def _new(user: Person, subject: Person, period: Period) -> EvaluationReport:
    try:
        with transaction.atomic():
            return EvaluationReport.objects.create(
                subject_id=subject.pk,
                requested_by_id=user.pk,
                period_start=period.start,
                period_end=period.end,
                language=_language(user),
            )
    except IntegrityError:
        # Two requests at the same time: the other one was first.
        if (known := _under_way(user, subject, period)) is None:
            raise
        return known


def _asked_for(user: Person, subject: Person, period: Period) -> EvaluationReportQuerySet:
    return EvaluationReport.objects.below(user).filter(
        requested_by=user.pk, subject=subject.pk, period_start=period.start, period_end=period.end
    )


def _language(user: Person) -> str:
    """The language that the narrative is to be in: the one that `user` chose, else that of the request."""
    chosen = UserProfile.objects.filter(pk=user.pk).values_list("preferred_language", flat=True).first()
    language = chosen or get_language() or ""
    return language if language in dict(settings.LANGUAGES) else settings.LANGUAGE_CODE


def _to_decide_on(user: Person, report_id: UUID) -> EvaluationReportQuerySet:
    """The report as rows of one, as long as its subject stands below `user`. Raises ReportNotFound, ReportNotYours."""
    mine = EvaluationReport.objects.below(user).filter(pk=report_id)
    if not mine.exists():
        _not_theirs(user, report_id)
    return mine


def _not_theirs(user: Person, report_id: UUID) -> None:
    """Raises ReportNotYours for a report that `user` may read, else ReportNotFound."""
    visible = EvaluationReport.objects.visible_to(user).filter(pk=report_id)
    raise ReportNotYours if visible.exists() else ReportNotFound


def _refuse(mine: EvaluationReportQuerySet, errors: dict[ReportState, type[Exception]]) -> None:
    """Raises what stands for the state that the report is in; nothing for a state that the change has led to."""
    state = mine.values_list("state", flat=True).first()
    if state is None:
        raise ReportNotFound
    if error := errors.get(ReportState(state)):
        raise error
