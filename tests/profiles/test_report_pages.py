"""P7: reports about me on my profile page, and the page of one, as the server renders them."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memory.models import MemoryOwner
from profiles.models import EvaluationReport, ProfileTag, TagKind, TagStatus, tag_key
from profiles.reports import lifecycle as reports
from tests.factories import TurnFactory
from tests.profiles.organisation import report_to
from tests.profiles.reporting import OCTOBER, busy_october, done, made
from tests.profiles.test_figures import use
from tests.profiles.test_profile_page import section
from tests.profiles.test_tasks_page import browser


@pytest.fixture
def report(people: dict[str, User]) -> EvaluationReport:
    """A draft of Alice's about Bob, figures and evidence alone."""
    busy_october(people["alice"], people["bob"])
    return made(people["alice"], people["bob"])


@pytest.fixture
def shared(people: dict[str, User], report: EvaluationReport) -> EvaluationReport:
    reports.sign(people["alice"], report.pk)
    reports.share(people["alice"], report.pk)
    return report


def page(client: Client, report: EvaluationReport) -> str:
    response = client.get(f"/profile/reports/{report.pk}/")
    assert response.status_code == 200
    return response.content.decode()


def words(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))


def listed(client: Client) -> str:
    return section(client.get("/profile/").content.decode(), "reports")


def test_a_report_stands_on_the_profile_page_once_it_is_shared(
    people: dict[str, User], report: EvaluationReport
) -> None:
    bob = browser(people["bob"], "en")
    assert "None. A report that somebody above you writes" in listed(bob)
    reports.sign(people["alice"], report.pk)
    assert "2025-10-01" not in listed(bob)
    reports.share(people["alice"], report.pk)
    assert "2025-10-01 – 2025-10-31" in listed(bob)
    assert "from 张岚" in listed(bob)
    assert "2025-10-01" not in listed(browser(people["dan"], "en"))
    assert "2025-10-01" not in listed(browser(people["alice"], "en")), "it is not about her"


def test_a_new_one_is_marked_on_every_page_until_it_is_opened(
    people: dict[str, User], shared: EvaluationReport
) -> None:
    def mark(client: Client) -> str:
        return re.search(r"<a[^>]*data-report-link[^>]*>", client.get("/tasks/").content.decode())[0]  # type: ignore[index]

    bob = browser(people["bob"])
    assert f'href="/profile/reports/{shared.pk}/"' in mark(bob)
    assert "hidden" not in mark(bob)
    assert "hidden" in mark(browser(people["alice"]))
    page(bob, shared)
    assert "hidden" in mark(bob)


def test_the_page_shows_figures_with_samples_evidence_with_links_and_who_made_it(
    people: dict[str, User], shared: EvaluationReport
) -> None:
    shown = page(browser(people["bob"], "en"), shared)
    told = words(shown)
    for said in (
        "Report on 王小明",
        "75% of 4 tasks",
        "24.0 hours of 3 tasks",
        "signed by 张岚",
        "No model took part.",
    ):
        assert said in told, said
    assert "No model is set up, so this report is figures and evidence alone." in told
    assert "“晚了的”: given 2025-10-10, due 2025-10-10, done 2025-10-11, late" in told
    assert "“没做的”: given 2025-10-15, due 2025-10-25, overdue at the end" in told
    assert 'id="evidence-M5"' in shown
    assert f"Fingerprint of the data {shared.inputs_hash}" in told


def test_a_claim_leads_to_its_evidence(people: dict[str, User], shared: EvaluationReport) -> None:
    work = next(item["ref"] for item in shared.evidence if item["kind"] == "work")
    narrative = [{"text": f"按期完成 [{work}, M5]，<b>不错</b>。", "refs": [work, "M5", "M6"]}]
    EvaluationReport.objects.filter(pk=shared.pk).update(narrative=narrative, struck_claims=2, model="m-1")
    shown = page(browser(people["bob"], "en"), shared)
    for ref in (work, "M5", "M6"):
        assert f'<a class="report-ref" href="#evidence-{ref}">{ref}</a>' in shown
        assert f'id="evidence-{ref}"' in shown
    assert "&lt;b&gt;不错&lt;/b&gt;" in shown
    assert "2 claims were struck" in words(shown)
    assert "Model m-1." in words(shown)


def test_too_little_is_no_per_cent(people: dict[str, User]) -> None:
    done(people["alice"], people["bob"])
    report = made(people["alice"], people["bob"])
    told = words(page(browser(people["alice"], "en"), report))
    assert "Not enough data. Tasks given, done or cancelled: 2." in told
    assert told.count("not enough data") == 4
    assert "%" not in told
    assert "nothing to cite" not in told


def test_where_there_is_nothing_to_cite_it_says_so(people: dict[str, User]) -> None:
    report = made(people["alice"], people["bob"])
    told = words(page(browser(people["alice"], "en"), report))
    assert "Besides these figures there is nothing to cite" in told


def test_the_subject_answers_and_corrects_the_answer(people: dict[str, User], shared: EvaluationReport) -> None:
    bob, alice = browser(people["bob"], "en"), browser(people["alice"], "en")
    address = f"/profile/reports/{shared.pk}/response/"
    assert "Your answer" in page(bob, shared)
    assert "Your answer" not in page(alice, shared)
    assert bob.post(address, {"text": "环境没好。\r\n<script>"}).status_code == 302
    assert "环境没好。<br>&lt;script&gt;" in page(alice, shared)
    assert "What 王小明 says" in words(page(alice, shared))
    assert "Correct your answer" in page(bob, shared)
    bob.post(address, {"text": "更正。"})
    assert "环境没好。" not in page(alice, shared)
    assert "answered" in listed(bob)


@pytest.mark.parametrize("text", ["", "   ", "字" * 5001])
def test_an_answer_that_is_none_is_told_with_what_was_typed(
    people: dict[str, User], shared: EvaluationReport, text: str
) -> None:
    answer = browser(people["bob"]).post(f"/profile/reports/{shared.pk}/response/", {"text": text})
    assert answer.status_code == 400
    body = answer.content.decode()
    assert 'id="answer-error" role="alert"' in body
    assert text.strip() in body
    assert EvaluationReport.objects.get().response == ""


def test_managers_who_are_no_staff_sign_and_share_there(people: dict[str, User], report: EvaluationReport) -> None:
    alice = browser(people["alice"], "en")
    for verb, state in (("sign", "signed"), ("share", "shared")):
        assert f"/profile/reports/{report.pk}/{verb}/" in page(alice, report)
        alice.post(f"/profile/reports/{report.pk}/{verb}/")
        report.refresh_from_db()
        assert report.state == state
    assert "<form" not in page(alice, report).split('class="report-page"')[1].split("</main>")[0]


def test_states_in_between_are_told(people: dict[str, User]) -> None:
    alice, bob = people["alice"], people["bob"]
    waiting = reports.request_report(alice, bob.pk, OCTOBER)
    told = words(page(browser(alice, "en"), waiting))
    assert "This report is being made: 0 %." in told
    assert "Figures" not in told
    early = browser(alice, "en").post(f"/profile/reports/{waiting.pk}/sign/", follow=True).content.decode()
    assert "This report is not ready." in early
    EvaluationReport.objects.update(status="failed", error_code="job_failed")
    assert "This report could not be made." in words(page(browser(alice, "en"), waiting))


def test_nothing_private_unconfirmed_or_withheld_is_on_the_page(people: dict[str, User]) -> None:
    """The canary, on the page."""
    alice, bob = people["alice"], people["bob"]
    TurnFactory(conversation__user=bob, input="金丝雀：我想换工作", output="金丝雀")
    MemoryOwner.objects.make([bob.pk])
    for kind, status, is_shared in (
        (TagKind.TOPIC, TagStatus.SUGGESTED, True),
        (TagKind.STYLE, TagStatus.CONFIRMED, False),
        (TagKind.EXPERTISE, TagStatus.REJECTED, True),
        (TagKind.TONE, TagStatus.CONFIRMED, True),
    ):
        value = f"金丝雀{kind}"
        ProfileTag.objects.create(user=bob, kind=kind, value=value, key=tag_key(value), status=status, shared=is_shared)
    done(bob, bob, "金丝雀自己的")
    use(bob, 7, "周报生成")
    busy_october(alice, bob)
    report = made(alice, bob)
    for client in (browser(alice), browser(people["grace"])):
        assert "金丝雀" not in page(client, report)


def test_others_find_no_such_page(people: dict[str, User], report: EvaluationReport) -> None:
    report_to(people["bob"], None)
    for name in people:
        assert browser(people[name]).get(f"/profile/reports/{report.pk}/").status_code == 404, name
    assert Client().get(f"/profile/reports/{report.pk}/").status_code == 302
