"""The page of one report: for the person it is about, and for those above them."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.mixins import LoginRequiredMixin
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.generic import View

from llm.text import safe
from profiles.errors import ReportNotFound, ReportNotReady, ReportNotSigned, ReportNotYours
from profiles.models.reports import RESPONSE_CHARS
from profiles.reports import lifecycle as reports
from profiles.reports.page import shown


class ResponseForm(forms.Form):
    """What the subject says of a report."""

    text = forms.CharField(max_length=RESPONSE_CHARS)

    def clean_text(self) -> str:
        """With line ends as the API keeps them."""
        return safe(self.cleaned_data["text"]).replace("\r\n", "\n")


class ReportView(LoginRequiredMixin, View):
    """The report as it stands."""

    def get(self, request: HttpRequest, report_id: UUID) -> HttpResponse:
        return _page(request, report_id)


class ReportAnswerView(LoginRequiredMixin, View):
    """The subject answers, or puts other words in the place of their answer."""

    def post(self, request: HttpRequest, report_id: UUID) -> HttpResponse:
        form = ResponseForm(request.POST)
        if not form.is_valid():
            return _page(request, report_id, form=form)
        return _done(request, report_id, lambda: reports.respond(request.user, report_id, form.cleaned_data["text"]))


class ReportSignView(LoginRequiredMixin, View):
    """Somebody above the subject puts their name under it."""

    def post(self, request: HttpRequest, report_id: UUID) -> HttpResponse:
        return _done(request, report_id, lambda: reports.sign(request.user, report_id))


class ReportShareView(LoginRequiredMixin, View):
    """Somebody above the subject gives it to the subject."""

    def post(self, request: HttpRequest, report_id: UUID) -> HttpResponse:
        return _done(request, report_id, lambda: reports.share(request.user, report_id))


def _done(request: HttpRequest, report_id: UUID, deed: Callable[[], None]) -> HttpResponse:
    try:
        deed()
    except ReportNotFound:
        raise Http404 from None
    except (ReportNotYours, ReportNotReady, ReportNotSigned) as error:
        messages.warning(request, str(error.detail))
    else:
        messages.success(request, _("Saved."))
    return redirect("report_page", report_id=report_id)


def _page(request: HttpRequest, report_id: UUID, *, form: ResponseForm | None = None) -> HttpResponse:
    try:
        report = reports.report_for(request.user, report_id)
    except ReportNotFound:
        raise Http404 from None
    context: dict[str, Any] = {
        "shown": shown(report, request.user),
        "is_mine": report.subject_id == request.user.pk,
        "form": form or ResponseForm(initial={"text": report.response}),
        "has_mistakes": form is not None,
        "response_chars": RESPONSE_CHARS,
        "page": {"session": None, "text": {}},
    }
    return render(request, "profiles/report.html", context, status=400 if form else 200)
