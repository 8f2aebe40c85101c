"""Shapes of reports in the API."""

from typing import Any

from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from memory.fields import SafeText, Strict
from profiles.models import EvaluationReport
from profiles.models.reports import RESPONSE_CHARS
from profiles.reports.page import shown_evidence


class ReportQuery(Strict):
    """About whom: the id of somebody who reports to the caller, or of the caller."""

    user_id = SafeText(required=False, max_length=40)

    def validate_user_id(self, text: str) -> int:
        """What is no id at all is a missing one."""
        if not (text.isascii() and text.isdecimal() and len(text) < 19):
            raise Http404
        return int(text)


class ReportStart(Strict):
    """Whom a report is to be about, and which days, both included, in the zone of that person."""

    user_id = serializers.IntegerField()
    period_start = serializers.DateField()
    period_end = serializers.DateField()


class ReportRequested(serializers.Serializer[Any]):
    """Where the report will be. Ask there for how far it is."""

    report_id = serializers.UUIDField(source="pk")
    status = serializers.CharField()
    url = serializers.SerializerMethodField()

    def get_url(self, report: EvaluationReport) -> str:
        """The address of the report in the API."""
        return reverse("report-detail", args=[report.pk])


class Response(Strict):
    """What the subject says of a report."""

    text = SafeText(max_length=RESPONSE_CHARS)


class ClaimShape(serializers.Serializer[Any]):
    text = serializers.CharField()
    refs = serializers.ListField(child=serializers.CharField())


class EvidenceShape(serializers.Serializer[Any]):
    """`url` is the page of the task, or null."""

    ref = serializers.CharField()
    kind = serializers.ChoiceField(choices=["work", "metric", "tag", "flow"])
    text = serializers.CharField()
    url = serializers.CharField(allow_null=True)


class ReportSerializer(serializers.ModelSerializer[EvaluationReport]):
    """A report as it stands; people by their ids. Until it is ready it is empty."""

    subject = serializers.IntegerField(source="subject_id")
    requested_by = serializers.IntegerField(source="requested_by_id", allow_null=True)
    signed_by = serializers.IntegerField(source="signed_by_id", allow_null=True)
    metrics = serializers.DictField()
    narrative = ClaimShape(many=True)
    evidence = serializers.SerializerMethodField()

    class Meta:
        model = EvaluationReport
        fields = (
            *("id", "subject", "period_start", "period_end", "status", "progress", "state", "metrics", "narrative"),
            *("struck_claims", "evidence", "model", "prompt_version", "profile_version", "inputs_hash", "created_at"),
            *("signed_by", "signed_at", "shared_at", "response", "requested_by", "narrative_note", "error_code"),
        )

    @extend_schema_field(EvidenceShape(many=True))
    def get_evidence(self, report: EvaluationReport) -> list[dict[str, Any]]:
        """In the language of the request."""
        items = shown_evidence(report, self.context["reader"])
        return [{"ref": item.ref, "kind": item.kind, "text": item.text, "url": item.url or None} for item in items]


class ReportLine(serializers.ModelSerializer[EvaluationReport]):
    """A report in a list: all but what it says."""

    subject = serializers.IntegerField(source="subject_id")
    requested_by = serializers.IntegerField(source="requested_by_id", allow_null=True)
    signed_by = serializers.IntegerField(source="signed_by_id", allow_null=True)

    class Meta:
        model = EvaluationReport
        fields = (
            *("id", "subject", "period_start", "period_end", "status", "progress", "state", "created_at", "signed_by"),
            *("signed_at", "shared_at", "requested_by", "error_code"),
        )
