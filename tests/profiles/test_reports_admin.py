"""P7, P8: reports in the admin: asked for, watched, read, signed, shared, printed, by those above and nobody else."""

import re
from datetime import date, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from profiles.admin.asked_period import last_month, last_quarter
from profiles.models import EvaluationReport, Look, ReportState, ReportStatus, Sight
from profiles.reports import lifecycle as reports
from profiles.reports.job import make_due_reports
from tests.profiles.managing import manager, member
from tests.profiles.organisation import report_to
from tests.profiles.reporting import OCTOBER, busy_october, made
from tests.profiles.test_team_page import words

Cast = dict[str, User]
HOME = "/admin/profiles/evaluationreport/"


@pytest.fixture
def alice(people: Cast) -> Client:
    return manager(people["alice"])


@pytest.fixture
def report(people: Cast) -> EvaluationReport:
    """A report of Alice's about Bob's October: a draft."""
    busy_october(people["alice"], people["bob"])
    return made(people["alice"], people["bob"])


def page(report: EvaluationReport, part: str = "change") -> str:
    return f"{HOME}{report.pk}/{part}/"


def test_a_report_is_asked_for_and_watched_until_it_is_there(people: Cast, alice: Client) -> None:
    answer = alice.post(f"{HOME}ask/{people['bob'].pk}/", {"which": "month"})
    asked = EvaluationReport.objects.get()
    assert answer.headers["Location"] == page(asked)
    assert "The report on 王小明 is being made" in words(alice, page(asked))
    progress = alice.get(page(asked, "progress")).json()
    assert progress == {"status": "pending", "progress": 0, "words": "Waiting for its turn"}
    assert not Look.objects.filter(sight=Sight.REPORT).exists(), "there is nothing to read yet"
    make_due_reports()
    assert alice.get(page(asked, "progress")).json()["status"] == "ready"
    assert "Report on 王小明" in words(alice, page(asked))
    assert [look.subject for look in Look.objects.filter(sight=Sight.REPORT)] == [people["bob"]]


def test_a_report_that_waits_for_long_says_what_is_missing(people: Cast, alice: Client) -> None:
    asked = reports.request_report(people["alice"], people["bob"].pk, OCTOBER)
    EvaluationReport.objects.update(created_at=timezone.now() - timedelta(minutes=2))
    assert "Waiting for a worker." in alice.get(page(asked, "progress")).json()["words"]
    assert "Waiting for a worker." in words(alice, page(asked))


@pytest.mark.parametrize(
    ("progress", "said"), [(10, "Counting the work"), (40, "The model is writing"), (90, "Checking each claim")]
)
def test_it_is_told_what_goes_on(people: Cast, alice: Client, progress: int, said: str) -> None:
    asked = reports.request_report(people["alice"], people["bob"].pk, OCTOBER)
    EvaluationReport.objects.update(status=ReportStatus.RUNNING, progress=progress)
    assert said in alice.get(page(asked, "progress")).json()["words"]


def test_it_is_signed_then_shared_then_answered(people: Cast, alice: Client, report: EvaluationReport) -> None:
    draft = alice.get(page(report)).content.decode()
    assert 'data-opens="sign"' in draft
    assert 'data-opens="share"' not in draft
    assert re.search(rf'href="{member(people["bob"])}">王小明’s page<', draft)
    assert "does not see it until it is shared" in words(alice, page(report))
    alice.post(page(report, "sign"))
    signed = alice.get(page(report)).content.decode()
    assert 'data-opens="sign"' not in signed
    assert 'data-opens="share"' in signed
    alice.post(page(report, "share"))
    assert "data-opens" not in alice.get(page(report)).content.decode()
    reports.respond(people["bob"], report.pk, "我补充一点。")
    assert "我补充一点。" in words(alice, page(report))
    assert "was answered" in words(alice, member(people["bob"]))


def test_what_is_not_ready_is_not_signed_and_what_is_not_signed_is_not_shared(people: Cast, alice: Client) -> None:
    asked = reports.request_report(people["alice"], people["bob"].pk, OCTOBER)
    for part, told in (("sign", "This report is not ready."), ("share", "This report is not signed.")):
        answer = alice.post(page(asked, part), follow=True).content.decode()
        assert told in answer
    asked.refresh_from_db()
    assert asked.state == ReportState.DRAFT


def test_figures_alone_are_said_to_be_alone(alice: Client, report: EvaluationReport) -> None:
    assert "No model is set up, so this report is figures and evidence alone." in words(alice, page(report))


def test_one_that_failed_says_why_and_is_tried_again(people: Cast, alice: Client) -> None:
    asked = reports.request_report(people["alice"], people["bob"].pk, OCTOBER)
    EvaluationReport.objects.update(status=ReportStatus.FAILED, error_code="job_failed")
    assert "This report could not be made." in words(alice, page(asked))
    assert "could not be made" in words(alice)
    assert alice.post(page(asked, "again")).headers["Location"] == page(asked)
    asked.refresh_from_db()
    assert asked.status == ReportStatus.PENDING


def test_paper_has_the_report_and_nothing_around_it(alice: Client, report: EvaluationReport) -> None:
    body = alice.get(page(report, "print")).content.decode()
    assert "nav-sidebar" not in body
    assert 'data-theme="light"' in body
    assert not re.search(r"<style|<script(?![^>]*\ssrc=)|\son\w+=", body)
    assert "Report on 王小明" in re.sub(r"\s+", " ", body)


@pytest.mark.parametrize("said", [{}, {"which": "own"}, {"which": "own", "from": "2025-11-02", "to": "2025-11-01"}])
def test_a_period_that_is_none_is_refused_with_the_reason(people: Cast, alice: Client, said: dict[str, str]) -> None:
    answer = alice.post(f"{HOME}ask/{people['bob'].pk}/", said)
    assert answer.headers["Location"] == f"{member(people['bob'])}#reports"
    assert not EvaluationReport.objects.exists()
    assert re.search("Choose a first and a last day|Swap them", alice.get(member(people["bob"])).content.decode())


def test_months_and_quarters_are_the_last_whole_ones() -> None:
    assert last_month(date(2026, 1, 15)).start == date(2025, 12, 1)
    assert last_month(date(2026, 3, 31)).end == date(2026, 2, 28)
    quarter = last_quarter(date(2026, 2, 1))
    assert (quarter.start, quarter.end) == (date(2025, 10, 1), date(2025, 12, 31))
    assert last_quarter(date(2026, 12, 31)).start == date(2026, 7, 1)


PARTS = (
    ("change", "get"),
    ("print", "get"),
    ("progress", "get"),
    ("sign", "post"),
    ("share", "post"),
    ("again", "post"),
)


@pytest.mark.parametrize("who", ["bob", "carol", "dan", "root", "former"])
def test_for_everybody_else_a_report_is_one_that_does_not_exist(
    people: Cast, report: EvaluationReport, root: Client, who: str
) -> None:
    """P4, P7: its subject, a stranger, a colleague, a superuser, and its author who is the manager no more."""
    reports.sign(people["alice"], report.pk)
    if who == "former":
        report_to(people["bob"], people["carol"])
    reader = root if who == "root" else manager(people["alice" if who == "former" else who])
    missing = EvaluationReport(pk=uuid4())
    for part, method in PARTS:
        answers = [getattr(reader, method)(page(one, part)) for one in (report, missing)]
        assert [answer.status_code for answer in answers] == [404, 404], part
        assert len({plain(answer) for answer in answers}) == 1, part
    assert reader.post(f"{HOME}ask/{people['bob'].pk}/", {"which": "month"}).status_code == 404
    assert not reader.get(HOME).context["cl"].result_list
    report.refresh_from_db()
    assert report.state == ReportState.SIGNED


def plain(answer: Any) -> str:
    """A page without what differs from one request to the next."""
    return re.sub(r'nonce="[^"]*"|value="\w{64}"|[0-9a-f-]{36}', "", answer.content.decode())


def test_the_managers_manager_reads_and_signs_it_too(people: Cast, report: EvaluationReport) -> None:
    grace = manager(people["grace"])
    assert grace.get(page(report)).status_code == 200
    grace.post(page(report, "sign"))
    report.refresh_from_db()
    assert report.signed_by == people["grace"]


def test_nobody_asks_for_one_about_themselves(people: Cast, alice: Client) -> None:
    assert alice.post(f"{HOME}ask/{people['alice'].pk}/", {"which": "month"}).status_code == 404


def test_the_list_has_those_below_and_notes_who_was_shown(
    people: Cast, alice: Client, report: EvaluationReport
) -> None:
    Look.objects.all().delete()
    assert [row.pk for row in alice.get(HOME).context["cl"].result_list] == [report.pk]
    assert [(look.subject, look.sight) for look in Look.objects.all()] == [(people["bob"], Sight.LIST)]


def test_a_button_is_no_link(alice: Client, report: EvaluationReport) -> None:
    """A page that is fetched ahead, or a picture's address, signs nothing."""
    assert {alice.get(page(report, part)).status_code for part in ("sign", "share", "again")} == {405}
