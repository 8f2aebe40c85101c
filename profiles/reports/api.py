"""REST over reports."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.fields import Error, Strict, nothing_in, query
from profiles.api import ShownList
from profiles.models import EvaluationReport, Sight
from profiles.reports import lifecycle as reports
from profiles.reports import shapes as report_shapes
from profiles.reports.period import Period, PeriodRefused
from profiles.reports.shapes import ReportLine, ReportQuery, ReportRequested, ReportSerializer, ReportStart


class ReportList(ShownList):
    """Reports about those who report to the caller, and those about the caller that were shared."""

    serializer_class = ReportLine
    ordering = ("-created_at", "-pk")
    sight = Sight.REPORT

    def get_queryset(self) -> QuerySet[EvaluationReport]:
        asked = query(ReportQuery, self.request)
        return reports.reports_about(self.request.user, asked.get("user_id"))

    def subjects(self, rows: Iterable[Any]) -> list[int]:
        return [report.subject_id for report in rows]

    @extend_schema(operation_id="memory_profile_report_list", parameters=[ReportQuery], responses=ReportLine(many=True))
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The newest first."""
        return super().get(request, *args, **kwargs)

    @extend_schema(request=ReportStart, responses={202: ReportRequested, 404: Error}, filters=False)
    def post(self, request: Request) -> Response:
        """Has a report made about somebody who reports to the caller. While that one is being made, the same again."""
        given = ReportStart(data=request.data)
        given.is_valid(raise_exception=True)
        period = Period(given.validated_data["period_start"], given.validated_data["period_end"])
        try:
            report = reports.request_report(request.user, given.validated_data["user_id"], period)
        except PeriodRefused as error:
            raise ValidationError({error.field: str(error.detail)}) from None
        return Response(ReportRequested(report).data, status=status.HTTP_202_ACCEPTED)


class ReportDetail(APIView):
    @extend_schema(operation_id="memory_profile_report", responses=ReportSerializer)
    def get(self, request: Request, report_id: UUID) -> Response:
        """One report about somebody who reports to the caller, or one about the caller that was shared."""
        query(Strict, request)
        return _body(request, report_id)


class ReportSign(APIView):
    @extend_schema(request=None, responses={200: ReportSerializer, 403: Error, 409: Error})
    def post(self, request: Request, report_id: UUID) -> Response:
        """Puts the caller's name under a draft that is ready."""
        nothing_in(request)
        reports.sign(request.user, report_id)
        return _body(request, report_id)


class ReportShare(APIView):
    @extend_schema(request=None, responses={200: ReportSerializer, 403: Error, 409: Error})
    def post(self, request: Request, report_id: UUID) -> Response:
        """Gives a signed report to the person it is about."""
        nothing_in(request)
        reports.share(request.user, report_id)
        return _body(request, report_id)


class ReportResponse(APIView):
    @extend_schema(request=report_shapes.Response, responses={200: ReportSerializer, 403: Error})
    def post(self, request: Request, report_id: UUID) -> Response:
        """What the person says of a report about them; a second one replaces the first."""
        given = report_shapes.Response(data=request.data)
        given.is_valid(raise_exception=True)
        reports.respond(request.user, report_id, given.validated_data["text"])
        return _body(request, report_id)


def _body(request: Request, report_id: UUID) -> Response:
    report = reports.report_for(request.user, report_id)
    return Response(ReportSerializer(report, context={"reader": request.user}).data)
