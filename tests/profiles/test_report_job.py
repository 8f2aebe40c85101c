"""P7: making a report: the queue, the narrative, and what happens when something goes wrong."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from llm.errors import ModelRejected
from memory.models import TokenUse
from profiles import tasks as jobs
from profiles.errors import PersonNotFound
from profiles.models import EvaluationReport, ProfileTag, ReportStatus, TagKind, TagStatus, UserProfile, tag_key
from profiles.reports import job as report_job
from profiles.reports import lifecycle as reports
from profiles.reports.job import ATTEMPTS, make_due_reports
from profiles.reports.lifecycle import request_report
from profiles.reports.prompt import PROMPT_VERSION
from tests.doubles import Answer, ModelServer
from tests.profiles.organisation import organisation, report_to
from tests.profiles.reporting import OCTOBER, busy_october, claims, made, on
from tests.profiles.test_figures import use

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people(transactional_db: None) -> dict[str, User]:
    return organisation()


@pytest.fixture
def alice(people: dict[str, User]) -> User:
    return people["alice"]


@pytest.fixture
def bob(people: dict[str, User]) -> User:
    return people["bob"]


def tag(user: User, kind: str, value: str, status: str, **fields: Any) -> None:
    ProfileTag.objects.create(user=user, kind=kind, value=value, key=tag_key(value), status=status, **fields)


def test_a_report_has_figures_evidence_and_claims_that_cite_it(alice: User, bob: User, model: ModelServer) -> None:
    tasks = busy_october(alice, bob)
    tag(bob, TagKind.STYLE, "注重细节", TagStatus.CONFIRMED)
    use(bob, 7, "周报生成", at=on(3))
    late = f"W{tasks[2].pk}"
    model.enqueue(
        claims(
            (f"按期完成了两项工作里的一项 [W{tasks[0].pk}]。", []),
            ("按期完成了首项工作。", [f"W{tasks[0].pk}"]),
            (f"有一项晚了 [{late}]。", []),
            ("完成率为 75% [M5]。", []),
            ("完成率为 90% [M5]。", []),
            ("比同事更快 [M8]。", []),
            ("没有根据。", []),
            ("编造的 [W999999]。", []),
        )
    )
    report = made(alice, bob)
    assert (report.status, report.progress, report.state) == (ReportStatus.READY, 100, "draft")
    assert [claim["refs"] for claim in report.narrative] == [[f"W{tasks[0].pk}"], [late], ["M5"]]
    assert (report.struck_claims, report.narrative_note, report.model) == (5, "", "scripted")
    names = {item["ref"] for item in report.evidence}
    assert {f"W{task.pk}" for task in tasks} | {"M1", "M9", "P1", "F1"} <= names
    assert all(ref in names for claim in report.narrative for ref in claim["refs"])
    assert (report.prompt_version, len(report.inputs_hash)) == (PROMPT_VERSION, 64)
    assert TokenUse.objects.get(user=alice, kind="report").calls == 1
    assert not TokenUse.objects.filter(user=bob).exists()


def test_the_model_is_asked_once_coolly_and_in_the_language_of_whoever_asked(
    alice: User, bob: User, model: ModelServer
) -> None:
    UserProfile.objects.filter(pk=alice.pk).update(preferred_language="en")
    busy_october(alice, bob)
    model.enqueue(claims(("Finished on time.", ["M6"])))
    report = made(alice, bob)
    (chat,) = model.chats
    assert chat.body["temperature"] <= 0.3
    assert "Write in English" in chat.body["messages"][0]["content"]
    assert report.language == "en"


def test_without_a_model_it_is_figures_and_evidence_and_says_so(alice: User, bob: User) -> None:
    busy_october(alice, bob)
    report = made(alice, bob)
    assert (report.status, report.narrative, report.narrative_note) == (ReportStatus.READY, [], "no_model")
    assert (report.model, report.metrics["done"], len(report.inputs_hash)) == ("", 3, 64)
    assert not TokenUse.objects.exists()


def test_when_all_is_struck_it_says_so(alice: User, bob: User, model: ModelServer) -> None:
    busy_october(alice, bob)
    model.enqueue(claims(("他很好。", []), ("最优秀。", ["M5"])))
    report = made(alice, bob)
    assert (report.narrative, report.narrative_note, report.struck_claims) == ([], "all_struck", 2)


def test_an_unusable_answer_is_asked_for_once_more(alice: User, bob: User, model: ModelServer) -> None:
    busy_october(alice, bob)
    model.enqueue(Answer("我想想"), claims(("完成率为 75%。", ["M5"])))
    assert len(made(alice, bob).narrative) == 1
    assert TokenUse.objects.get(user=alice, kind="report").calls == 2


def test_a_model_that_talks_nonsense_twice_leaves_figures(alice: User, bob: User, model: ModelServer) -> None:
    busy_october(alice, bob)
    model.enqueue(Answer("我想想"), Answer("还是不会"))
    assert made(alice, bob).narrative_note == "model_unusable"


def test_a_model_that_refuses_leaves_figures_at_once(
    alice: User, bob: User, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise ModelRejected

    monkeypatch.setattr("llm.complete", refuse)
    busy_october(alice, bob)
    assert (made(alice, bob).status, made(alice, bob).narrative_note) == ("ready", "model_failed")


def test_a_model_that_is_away_is_tried_again_and_in_the_end_done_without(
    alice: User, bob: User, model: ModelServer, settings: Any
) -> None:
    settings.LLM_BASE_URL = "http://127.0.0.1:9/v1"
    busy_october(alice, bob)
    report = request_report(alice, bob.pk, OCTOBER)
    for attempt in range(1, ATTEMPTS + 1):
        assert make_due_reports() == 1
        report.refresh_from_db()
        assert report.attempts == attempt
        if attempt < ATTEMPTS:
            assert (report.status, make_due_reports()) == (ReportStatus.PENDING, 0), "it waits"
            EvaluationReport.objects.update(claimed_until=None)
    assert (report.status, report.narrative_note) == (ReportStatus.READY, "model_failed")


def test_where_nothing_happened_no_model_is_asked(alice: User, bob: User, model: ModelServer) -> None:
    report = made(alice, bob)
    assert (report.narrative_note, report.metrics["enough_data"], model.chats) == ("nothing_happened", False, [])


def test_a_worker_that_is_killed_costs_only_time(
    alice: User, bob: User, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy_october(alice, bob)
    report = request_report(alice, bob.pk, OCTOBER)

    class Killed(BaseException):
        """The process is gone: nothing of ours runs any more."""

    def die(*_: Any, **__: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(report_job, "_words", die)
        patch.setattr(report_job, "_postpone", lambda _report: None)
        with pytest.raises(Killed):
            make_due_reports()
    report.refresh_from_db()
    assert (report.status, report.progress, make_due_reports()) == (ReportStatus.RUNNING, 40, 0)
    EvaluationReport.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    assert make_due_reports() == 1
    report.refresh_from_db()
    assert (report.status, report.attempts) == (ReportStatus.READY, 2)


def test_a_worker_that_comes_back_too_late_overwrites_nothing(alice: User, bob: User, model: ModelServer) -> None:
    busy_october(alice, bob)
    report = request_report(alice, bob.pk, OCTOBER)
    late = report_job._claimed()
    assert late
    EvaluationReport.objects.update(claimed_until=None)
    model.enqueue(claims(("完成率为 75%。", ["M5"])), claims(("迟到的 [M5]。", [])))
    assert make_due_reports() == 1
    report_job._make(late)
    report.refresh_from_db()
    assert [claim["text"] for claim in report.narrative] == ["完成率为 75%。"]


def test_what_fails_three_times_has_failed_and_can_be_asked_for_again(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError

    report = request_report(alice, bob.pk, OCTOBER)
    with monkeypatch.context() as patch:
        patch.setattr(report_job, "basis_of", fail)
        for _ in range(ATTEMPTS):
            with pytest.raises(RuntimeError):
                jobs.make_reports()
            EvaluationReport.objects.update(claimed_until=None)
    report.refresh_from_db()
    assert (report.status, report.error_code, report.metrics) == (ReportStatus.FAILED, "job_failed", {})
    assert make_due_reports() == 0
    assert request_report(alice, bob.pk, OCTOBER).pk == report.pk
    assert make_due_reports() == 1
    report.refresh_from_db()
    assert (report.status, report.error_code) == (ReportStatus.READY, "")


def test_one_whose_worker_dies_each_time_has_failed(alice: User, bob: User) -> None:
    report = request_report(alice, bob.pk, OCTOBER)
    EvaluationReport.objects.update(status="running", attempts=ATTEMPTS, claimed_until=timezone.now())
    assert make_due_reports() == 0
    report.refresh_from_db()
    assert (report.status, report.error_code) == (ReportStatus.FAILED, "job_failed")


@pytest.mark.parametrize("moment", ["before", "while the model writes"])
def test_a_subject_who_left_the_line_meanwhile_is_not_reported_on(
    people: dict[str, User], alice: User, bob: User, model: ModelServer, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """It fails closed: nothing is kept, nobody reads it."""
    busy_october(alice, bob)
    report = request_report(alice, bob.pk, OCTOBER)
    if moment == "before":
        report_to(bob, people["carol"])
    else:
        words = report_job._words
        monkeypatch.setattr(report_job, "_words", lambda *it: (report_to(bob, people["carol"]), words(*it))[1])
        model.enqueue(claims(("完成率为 75%。", ["M5"])))
    make_due_reports()
    report.refresh_from_db()
    assert (report.status, report.error_code) == (ReportStatus.FAILED, "not_in_line")
    assert (report.metrics, report.evidence, report.narrative) == ({}, [], [])
    assert not EvaluationReport.objects.visible_to(alice).exists()
    with pytest.raises(PersonNotFound):
        request_report(alice, bob.pk, OCTOBER)


def test_asking_twice_at_a_time_gives_one_report(alice: User, bob: User, people: dict[str, User]) -> None:
    first = request_report(alice, bob.pk, OCTOBER)
    assert request_report(alice, bob.pk, OCTOBER).pk == first.pk
    assert request_report(people["grace"], bob.pk, OCTOBER).pk != first.pk
    assert request_report(alice, people["dan"].pk, OCTOBER).pk != first.pk
    reports._new(alice, bob, OCTOBER)
    assert EvaluationReport.objects.count() == 3
    make_due_reports()
    assert request_report(alice, bob.pk, OCTOBER).pk != first.pk, "that one is ready"
