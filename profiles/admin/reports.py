"""Reports in the admin: asked for, watched while they are made, read, signed, shared, printed.

Here as everywhere the reporting line alone decides: superusers read the reports about people below them, and no other.
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from profiles.admin.asked_period import asked_for_report
from profiles.admin.read_only import ReadOnlyAdmin
from profiles.errors import PersonNotFound, ReportNotFound, ReportNotReady, ReportNotSigned, ReportNotYours
from profiles.models import EvaluationReport, ReportState, ReportStatus, Sight, zone_of
from profiles.permissions import Act, policy
from profiles.reports import lifecycle as reports
from profiles.reports.page import shown
from profiles.reports.period import Period, PeriodRefused
from profiles.reports.progress import progress_words
from profiles.reports.waiting import waits_for
from profiles.task_page import name_of

_HOME = "admin:profiles_evaluationreport"


@admin.register(EvaluationReport)
class ReportAdmin(ReadOnlyAdmin):
    """The reports about everybody below whoever looks."""

    sight, person = Sight.LIST, "subject_id"
    list_display = ("subject_name", "period", "how_far", "asked_by", "created_at")
    list_filter = ("status", "state")
    list_select_related = ("subject__profile", "requested_by__profile")
    search_fields = ("subject__profile__display_name",)
    search_help_text = _("Search by name")
    ordering = ("-created_at",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return policy.rows(EvaluationReport.objects.all(), request.user, Act.EVALUATE, key="subject_id")

    @admin.display(description=_("about"), ordering="subject__profile__display_name")
    def subject_name(self, report: EvaluationReport) -> str:
        return name_of(report.subject)

    @admin.display(description=_("period"), ordering="period_start")
    def period(self, report: EvaluationReport) -> str:
        return f"{report.period_start:%Y-%m-%d} – {report.period_end:%Y-%m-%d}"

    @admin.display(description=_("state"))
    def how_far(self, report: EvaluationReport) -> Any:
        return waits_for(report)

    @admin.display(description=_("asked for by"), ordering="requested_by__profile__display_name")
    def asked_by(self, report: EvaluationReport) -> str:
        return name_of(report.requested_by)

    def get_urls(self) -> list[URLPattern]:
        """A page of each report, and what can be done with it."""
        pages: tuple[tuple[str, str, Callable[..., HttpResponse]], ...] = (
            ("ask/<int:user_id>/", "ask", self.ask_view),
            ("<uuid:report_id>/change/", "read", self.read_view),
            ("<uuid:report_id>/print/", "print", self.print_view),
            ("<uuid:report_id>/progress/", "progress", self.progress_view),
            ("<uuid:report_id>/again/", "again", self.again_view),
            ("<uuid:report_id>/sign/", "sign", self.sign_view),
            ("<uuid:report_id>/share/", "share", self.share_view),
        )
        own = [
            path(address, self.admin_site.admin_view(self._guarded(view)), name=f"profiles_evaluationreport_{name}")
            for address, name, view in pages
        ]
        return [*own, *super().get_urls()]

    def _guarded(self, view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        """Staff who may see no reports find none of these pages, and reports out of sight look like missing ones."""

        def guarded(request: HttpRequest, **kwargs: Any) -> HttpResponse:
            report_id = kwargs.get("report_id")
            is_there = report_id is None or self.get_queryset(request).filter(pk=report_id).exists()
            if not self.has_view_permission(request) or not is_there:
                raise Http404
            try:
                return view(request, **kwargs)
            except (ReportNotFound, PersonNotFound):
                raise Http404 from None

        return guarded

    @method_decorator(require_safe)
    def read_view(self, request: HttpRequest, report_id: UUID) -> HttpResponse:
        report = reports.report_for(request.user, report_id)
        return TemplateResponse(request, "admin/report.html", self._context(request, report))

    @method_decorator(require_safe)
    def print_view(self, request: HttpRequest, report_id: UUID) -> HttpResponse:
        """The report alone, for paper."""
        report = reports.report_for(request.user, report_id)
        return TemplateResponse(request, "admin/report_print.html", {"shown": shown(report, request.user)})

    def progress_view(self, request: HttpRequest, report_id: UUID) -> HttpResponse:
        """How far it is, for the page that waits: `{status, progress, words}`. Nothing of the report is in it."""
        status, progress = reports.progress_of(request.user, report_id)
        asked_at = self.get_queryset(request).values_list("created_at", flat=True).get(pk=report_id)
        words = str(progress_words(status, progress, asked_at))
        return JsonResponse({"status": status, "progress": progress, "words": words})

    @method_decorator(require_POST)
    def ask_view(self, request: HttpRequest, user_id: int) -> HttpResponse:
        """Asks for a report about somebody, for the period that the form names."""
        today = timezone.localdate(timezone=zone_of(User(pk=user_id)))
        try:
            report = reports.request_report(request.user, user_id, asked_for_report(request.POST, today))
        except PeriodRefused as refused:
            messages.warning(request, str(refused.detail))
            return redirect(reverse("admin:profiles_userprofile_change", args=[user_id]) + "#reports")
        return redirect(f"{_HOME}_read", report.pk)

    @method_decorator(require_POST)
    def again_view(self, request: HttpRequest, report_id: UUID) -> HttpResponse:
        """Asks once more for one that could not be made."""
        failed = self.get_queryset(request).get(pk=report_id)
        period = Period(failed.period_start, failed.period_end)
        return redirect(f"{_HOME}_read", reports.request_report(request.user, failed.subject_id, period).pk)

    @method_decorator(require_POST)
    def sign_view(self, request: HttpRequest, report_id: UUID) -> HttpResponse:
        return self._decide(request, report_id, reports.sign, _("Signed. Nobody but the line above reads it yet."))

    @method_decorator(require_POST)
    def share_view(self, request: HttpRequest, report_id: UUID) -> HttpResponse:
        return self._decide(request, report_id, reports.share, _("Shared. The person is told, and may answer."))

    def _decide(
        self, request: HttpRequest, report_id: UUID, act: Callable[[Any, UUID], None], done: Any
    ) -> HttpResponse:
        try:
            act(request.user, report_id)
            messages.success(request, str(done))
        except (ReportNotReady, ReportNotSigned, ReportNotYours) as refused:
            messages.warning(request, str(refused.detail))
        return redirect(f"{_HOME}_read", report_id)

    def _context(self, request: HttpRequest, report: EvaluationReport) -> dict[str, Any]:
        is_ready = report.status == ReportStatus.READY
        site: dict[str, Any] = self.admin_site.each_context(request)
        return site | {
            "title": _("Report"),
            "shown": shown(report, request.user),
            "words": progress_words(ReportStatus(report.status), report.progress, report.created_at),
            "may_sign": is_ready and report.state == ReportState.DRAFT,
            "may_share": report.state == ReportState.SIGNED,
            "has_failed": report.status == ReportStatus.FAILED,
        }
