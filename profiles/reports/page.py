"""A report as it is shown, on the profile page and in the admin: for `templates/profiles/_report.html`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from memory.person import Person
from profiles.models import EvaluationReport, ReportStatus
from profiles.reports.claims import CITED, REF
from profiles.reports.evidence import METRIC, WORK
from profiles.reports.metrics import NAMES
from profiles.reports.words import FAULTS, LABELS, NOTES, evidence_text, figure, little, sample
from profiles.task_page import address_of, name_of


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a claim: words, or the name of an item of evidence."""

    text: str = ""
    ref: str = ""


@dataclass(frozen=True, slots=True)
class ShownEvidence:
    """One item of evidence; `url` is empty for what has no page."""

    ref: str
    kind: str
    text: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class ShownReport:
    """What the template needs. `figures` are `(ref, label, figure, sample)`; `fault` says why there is no report.

    `has_evidence`: whether there is any besides the figures.
    """

    report: EvaluationReport
    subject: str
    asked_by: str
    signed_by: str
    is_ready: bool
    is_unfinished: bool
    figures: Sequence[tuple[str, str, str, str]]
    flows: Sequence[dict[str, Any]]
    work_given: int
    claims: Sequence[Sequence[Piece]]
    evidence: Sequence[ShownEvidence]
    has_evidence: bool
    little: str
    note: str
    fault: str


def shown(report: EvaluationReport, reader: Person) -> ShownReport:
    """The report in words, as `reader` may follow its links. Who may read it is not asked here."""
    metrics, is_ready = report.metrics, report.status == ReportStatus.READY
    fault = FAULTS.get(report.error_code, FAULTS["job_failed"]) if report.status == ReportStatus.FAILED else ""
    return ShownReport(
        report=report,
        subject=name_of(report.subject),
        asked_by=name_of(report.requested_by),
        signed_by=name_of(report.signed_by),
        is_ready=is_ready,
        is_unfinished=report.is_unfinished,
        figures=_figures(metrics) if is_ready else (),
        flows=metrics["context"]["flows"] if is_ready else (),
        work_given=metrics["context"]["work_given"] if is_ready else 0,
        claims=[_pieces(claim) for claim in report.narrative],
        evidence=shown_evidence(report, reader),
        has_evidence=any(item["kind"] != METRIC for item in report.evidence),
        little=little(metrics),
        note=str(NOTES.get(report.narrative_note, "")),
        fault=str(fault),
    )


def shown_evidence(report: EvaluationReport, reader: Person) -> list[ShownEvidence]:
    """The evidence in the language of the reader."""
    if not report.evidence:
        return []
    zone = ZoneInfo(report.metrics["zone"])
    return [
        ShownEvidence(item["ref"], item["kind"], evidence_text(item, zone), _address(item, report, reader))
        for item in report.evidence
    ]


def _figures(metrics: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    sizes = metrics["sample_sizes"]
    return [
        (f"M{number}", str(LABELS[name]), figure(name, metrics[name]), sample(name, sizes[name]))
        for number, name in enumerate(NAMES, 1)
    ]


def _address(item: dict[str, Any], report: EvaluationReport, reader: Person) -> str:
    """Where the reader sees the task: among their own, or among those of the team."""
    if item["kind"] != WORK:
        return ""
    return address_of(item["task_id"], is_mine=report.subject_id == reader.pk)


def _pieces(claim: dict[str, Any]) -> list[Piece]:
    """The claim cut at its citations, those that its text does not name behind it."""
    pieces: list[Piece] = []
    end, named = 0, set()
    for cited in CITED.finditer(claim["text"]):
        pieces.append(Piece(text=claim["text"][end : cited.start()]))
        refs = [ref.upper() for ref in REF.findall(cited.group(1))]
        pieces += [Piece(ref=ref) for ref in refs]
        named.update(refs)
        end = cited.end()
    pieces.append(Piece(text=claim["text"][end:]))
    return [piece for piece in pieces if piece.text or piece.ref] + [
        Piece(ref=ref) for ref in claim["refs"] if ref not in named
    ]
