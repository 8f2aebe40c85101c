"""P7: reports over REST: asked for, read, signed, shared, answered."""

import json
import uuid
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from profiles.models import EvaluationReport, Look, ReportState, Sight
from profiles.reports.job import make_due_reports
from tests.doubles import ModelServer
from tests.flows.test_notices import page_of
from tests.memory.test_export import exported
from tests.memory.traces import in_tables
from tests.people import Person
from tests.profiles.conftest import Cast
from tests.profiles.organisation import report_to
from tests.profiles.reporting import busy_october, claims

REPORTS = "/api/memory/profile/report"
FIELDS = {
    *("id", "subject", "period_start", "period_end", "status", "progress", "state", "metrics", "narrative", "evidence"),
    *("struck_claims", "model", "prompt_version", "profile_version", "inputs_hash", "created_at", "signed_by"),
    *("signed_at", "shared_at", "response", "requested_by", "narrative_note", "error_code"),
}


def ask(by: Person, about: Person, **fields: Any) -> Any:
    body = {"user_id": about.user.pk, "period_start": "2025-10-01", "period_end": "2025-10-31"}
    return by.api.post(REPORTS, json=body | fields)


def made(by: Person, about: Person) -> str:
    """The address of a report that is ready."""
    busy_october(by.user, about.user)
    response = ask(by, about)
    assert response.status_code == 202, response.text
    make_due_reports()
    return str(response.json()["url"])


def shared(by: Person, about: Person) -> str:
    address = made(by, about)
    for verb in ("sign", "share"):
        assert by.api.post(f"{address}/{verb}").status_code == 200
    return address


def test_a_report_goes_from_the_question_to_the_answer(cast: Cast, model: ModelServer) -> None:
    alice, bob = cast["alice"], cast["bob"]
    tasks = busy_october(alice.user, bob.user)
    asked = ask(alice, bob)
    assert (asked.status_code, set(asked.json())) == (202, {"report_id", "status", "url"})
    address = asked.json()["url"]
    assert address == f"{REPORTS}/{asked.json()['report_id']}"
    waiting = alice.api.get(address).json()
    assert (waiting["status"], waiting["progress"], waiting["metrics"], waiting["evidence"]) == ("pending", 0, {}, [])
    model.enqueue(claims((f"有一项晚了 [W{tasks[2].pk}]。", [])))
    make_due_reports()
    report = alice.api.get(address).json()
    assert set(report) == FIELDS
    assert (report["status"], report["progress"], report["state"]) == ("ready", 100, "draft")
    assert (report["subject"], report["requested_by"]) == (bob.user.pk, alice.user.pk)
    assert report["metrics"]["completion_rate"] == 0.75
    assert report["narrative"] == [{"text": f"有一项晚了 [W{tasks[2].pk}]。", "refs": [f"W{tasks[2].pk}"]}]
    (late,) = [item for item in report["evidence"] if item["ref"] == f"W{tasks[2].pk}"]
    assert (late["kind"], late["url"]) == ("work", f"/tasks/?tab=team&show=all&task={tasks[2].pk}#task-{tasks[2].pk}")
    assert "晚了的" in late["text"]
    signed = alice.api.post(f"{address}/sign").json()
    assert (signed["state"], signed["signed_by"]) == ("signed", alice.user.pk)
    assert alice.api.post(f"{address}/share").json()["state"] == "shared"
    own = bob.api.get(address).json()
    assert set(own) == FIELDS
    assert next(item["url"] for item in own["evidence"] if item["kind"] == "work").startswith("/tasks/?show=all&task=")
    answered = bob.api.post(f"{address}/response", json={"text": "压测那项晚了，因为环境没好。"}).json()
    assert (answered["state"], answered["response"]) == ("answered", "压测那项晚了，因为环境没好。")
    assert bob.api.post(f"{address}/response", json={"text": "更正：环境晚了两天。"}).status_code == 200
    assert alice.api.get(address).json()["response"] == "更正：环境晚了两天。"


def test_the_evidence_speaks_the_language_of_the_request(cast: Cast) -> None:
    address = made(cast["alice"], cast["bob"])
    english = cast["alice"].api.get(address, headers={"Accept-Language": "en"}).json()["evidence"]
    chinese = cast["alice"].api.get(address).json()["evidence"]
    assert "late" in " ".join(item["text"] for item in english)
    assert [item["ref"] for item in english] == [item["ref"] for item in chinese]
    assert "逾期" in " ".join(item["text"] for item in chinese)


def test_twice_is_once_and_each_step_needs_the_one_before(cast: Cast) -> None:
    alice, bob = cast["alice"], cast["bob"]
    first, second = ask(alice, bob).json(), ask(alice, bob).json()
    assert first == second
    address = first["url"]
    for verb, code in (("sign", "report_not_ready"), ("share", "report_not_signed")):
        refused = alice.api.post(f"{address}/{verb}")
        assert (refused.status_code, refused.json()["errors"][0]["code"]) == (409, code)
    make_due_reports()
    assert alice.api.post(f"{address}/share").status_code == 409
    signed = alice.api.post(f"{address}/sign").json()
    assert cast["grace"].api.post(f"{address}/sign").json() == signed, "the name under it stays"
    done = alice.api.post(f"{address}/share").json()
    assert alice.api.post(f"{address}/share").json() == done
    assert alice.api.post(f"{address}/sign").json() == done


@pytest.mark.parametrize(
    ("fields", "attr"),
    [
        ({"period_start": "2025-11-01"}, "period_end"),
        ({"period_end": (timezone.now() + timedelta(days=2)).date().isoformat()}, "period_end"),
        ({"period_start": "2024-10-30"}, "period_start"),
        ({"period_start": "yesterday"}, "period_start"),
        ({"period_start": None}, "period_start"),
        ({"state": "signed"}, "state"),
    ],
)
def test_a_period_that_is_none_is_refused_with_the_remedy(cast: Cast, fields: dict[str, Any], attr: str) -> None:
    refused = ask(cast["alice"], cast["bob"], **fields)
    assert (refused.status_code, refused.json()["errors"][0]["attr"]) == (400, attr)
    assert not EvaluationReport.objects.exists()


@pytest.mark.parametrize("text", ["", "  \n ", "字" * 5001, None])
def test_an_answer_has_one_to_5000_characters(cast: Cast, text: Any) -> None:
    address = shared(cast["alice"], cast["bob"])
    assert cast["bob"].api.post(f"{address}/response", json={"text": text}).status_code == 400
    assert cast["bob"].api.post(f"{address}/response", json={"text": "字" * 5000}).status_code == 200


def test_somebody_out_of_sight_looks_like_nobody(cast: Cast) -> None:
    missing = cast["alice"].api.post(
        REPORTS, json={"user_id": 987654, "period_start": "2025-10-01", "period_end": "2025-10-31"}
    )
    assert missing.status_code == 404
    for by, about in (("carol", "bob"), ("dan", "bob"), ("bob", "bob"), ("alice", "grace"), ("alice", "carol")):
        refused = ask(cast[by], cast[about])
        assert (refused.status_code, refused.json()) == (404, missing.json()), (by, about)
        backwards = ask(cast[by], cast[about], period_start="2025-12-01")
        assert backwards.status_code == 404, "no word of what else is wrong"
    assert not EvaluationReport.objects.exists()


def test_lists_show_the_line_what_is_below_and_the_subject_what_was_shared(cast: Cast) -> None:
    alice, bob, dan, grace = (cast[name] for name in ("alice", "bob", "dan", "grace"))
    draft, given = made(alice, dan), shared(alice, bob)
    ids = [address.rsplit("/", 1)[1] for address in (given, draft)]

    def listed(person: Person, **query: Any) -> list[str]:
        response = person.api.get(REPORTS, params=query)
        assert response.status_code == 200
        return [row["id"] for row in response.json()["results"]]

    assert listed(alice) == listed(grace) == ids
    assert listed(alice, user_id=dan.user.pk) == [ids[1]]
    assert (listed(bob), listed(dan), listed(cast["carol"])) == ([ids[0]], [], [])
    assert (listed(bob, user_id=bob.user.pk), listed(dan, user_id=dan.user.pk)) == ([ids[0]], [])
    page = alice.api.get(REPORTS, params={"limit": 1}).json()
    assert [row["id"] for row in alice.api.get(page["next"]).json()["results"]] == [ids[1]]
    row = alice.api.get(REPORTS).json()["results"][0]
    assert not {"metrics", "narrative", "evidence", "response"} & set(row)
    for wrong in ("987654", str(bob.user.pk), "x", "9" * 30):
        assert cast["carol"].api.get(REPORTS, params={"user_id": wrong}).status_code == 404, wrong
    assert alice.api.get(REPORTS, params={"who": "bob"}).status_code == 400


def test_each_reading_by_somebody_else_is_noted(cast: Cast) -> None:
    alice, bob = cast["alice"], cast["bob"]
    address = ask(alice, bob).json()["url"]
    alice.api.get(address)
    assert not Look.objects.exists(), "there is nothing to read yet"
    make_due_reports()
    for person in (alice, cast["grace"]):
        person.api.get(address)
    for person in (cast["carol"], cast["dan"], bob):
        assert person.api.get(address).status_code == 404
    assert list(Look.objects.order_by("pk").values_list("viewer__username", "subject__username", "sight")) == [
        (name, "bob", Sight.REPORT) for name in ("alice", "grace")
    ]
    alice.api.get(REPORTS)
    assert Look.objects.at(bob.user).count() == 3
    for verb in ("sign", "share"):
        alice.api.post(f"{address}/{verb}")
    before = Look.objects.count()
    bob.api.get(address)
    bob.api.get(REPORTS)
    assert Look.objects.count() == before, "one's own report is nobody's business"


def test_an_ex_manager_who_wrote_it_loses_it_at_once(cast: Cast) -> None:
    """And whoever stands above now has it."""
    alice, bob, carol = cast["alice"], cast["bob"], cast["carol"]
    address = made(alice, bob)
    report_to(bob.user, carol.user)
    for person in (alice, cast["grace"]):
        assert person.api.get(address).status_code == 404
        assert person.api.post(f"{address}/sign").status_code == 404
        assert person.api.get(REPORTS).json()["results"] == []
    assert carol.api.post(f"{address}/sign").json()["signed_by"] == carol.user.pk
    assert carol.api.post(f"{address}/share").status_code == 200
    assert bob.api.get(address).status_code == 200


def test_whoever_may_read_it_may_not_do_everything(cast: Cast) -> None:
    alice, bob = cast["alice"], cast["bob"]
    address = shared(alice, bob)
    for person, verb, body in ((bob, "sign", None), (bob, "share", None), (alice, "response", {"text": "好"})):
        refused = person.api.post(f"{address}/{verb}", json=body)
        assert (refused.status_code, refused.json()["errors"][0]["code"]) == (403, "not_yours_to_change")
    assert EvaluationReport.objects.get().state == ReportState.SHARED


def test_ids_that_are_none_are_missing_ones(cast: Cast) -> None:
    for wrong in (str(uuid.uuid4()), "x", "1", "%00"):
        for verb in ("", "/sign", "/share", "/response"):
            method = "POST" if verb else "GET"
            answer = cast["alice"].api.request(method, f"{REPORTS}/{wrong}{verb}", json={"text": "x"} if verb else None)
            assert answer.status_code in ((404,) if verb != "/sign" and verb != "/share" else (400, 404)), (wrong, verb)


def test_whoever_asked_and_whom_it_is_about_are_told(cast: Cast) -> None:
    """S8: by its number, once it can be read."""
    alice, bob = cast["alice"], cast["bob"]
    with page_of(alice) as asker, page_of(bob) as subject:
        address = made(alice, bob)
        told = {"type": "report.ready", "report_id": address.rsplit("/", 1)[1]}
        frames = [json.loads(asker.recv(timeout=20)) for _ in range(1)]
        assert frames == [told]
        for verb in ("sign", "share", "share"):
            alice.api.post(f"{address}/{verb}")
        frames = [json.loads(subject.recv(timeout=20)) for _ in range(5)]
        assert [frame for frame in frames if frame["type"] == "report.ready"] == [told]


def test_the_export_holds_what_was_shared_about_me_and_nothing_else(cast: Cast) -> None:
    alice, bob = cast["alice"], cast["bob"]
    address = made(alice, bob)
    assert exported(bob)["reports"] == []
    for verb in ("sign", "share"):
        alice.api.post(f"{address}/{verb}")
    bob.api.post(f"{address}/response", json={"text": "我的回应"})
    (report,) = exported(bob)["reports"]
    assert (report["response"], report["metrics"]["done"]) == ("我的回应", 3)
    assert "晚了的" in json.dumps(report, ensure_ascii=False)
    assert exported(alice)["reports"] == []


def test_erasing_conversations_leaves_reports_and_erasing_the_person_takes_them(cast: Cast) -> None:
    alice, bob, dan = cast["alice"], cast["bob"], cast["dan"]
    address = shared(alice, bob)
    bob.api.post(f"{address}/response", json={"text": "金丝雀的回应"})
    made(alice, dan)
    assert bob.api.post("/api/memory/erase", json={"scope": "all"}).status_code == 200
    assert EvaluationReport.objects.count() == 2
    out = StringIO()
    call_command("erase_user", "bob", "--yes", stdout=out)
    assert "profiles_evaluationreport" in out.getvalue()
    assert [report.subject for report in EvaluationReport.objects.all()] == [dan.user]
    assert in_tables("金丝雀的回应") == set()
    assert alice.api.get(address).status_code == 404


def test_a_report_outlives_the_account_of_whoever_signed_it(cast: Cast) -> None:
    address = shared(cast["alice"], cast["bob"])
    report_to(cast["bob"].user, cast["grace"].user)
    call_command("erase_user", "alice", "--yes", "--account", stdout=StringIO())
    report = cast["bob"].api.get(address).json()
    assert (report["state"], report["signed_by"], report["requested_by"]) == ("shared", None, None)
