"""P4, P7: who may do what with a person and with the reports about them: over the API, on the pages, in the admin.

One table. `yes`: it is done. `403`: whoever may read it is told that it is for somebody else to do; a page says so in
words. `no`: there is no such thing, as if there had never been one. Bob is the subject. Frank was his manager, wrote
the report, and is his manager no more; everybody here may enter the admin.
"""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from profiles.apps import MANAGERS
from profiles.models import EvaluationReport, ReportState, WorkTask
from profiles.reports import lifecycle as reports
from tests.profiles.organisation import report_to
from tests.profiles.reporting import busy_october, made
from tests.profiles.test_tasks_page import browser

ROLES = ("bob", "alice", "grace", "dan", "carol", "frank", "root")
MATRIX = """
                         | self | manager | manager's manager | peer | stranger | ex-manager | superuser
api: see work            | yes  | yes     | yes               | no   | no       | no         | no
api: see the profile     | no   | yes     | yes               | no   | no       | no         | no
api: assign              | yes  | yes     | yes               | no   | no       | no         | no
api: evaluate            | no   | yes     | yes               | no   | no       | no         | no
api: list reports        | yes  | yes     | yes               | no   | no       | no         | no
api: read a draft        | no   | yes     | yes               | no   | no       | no         | no
api: sign a draft        | no   | yes     | yes               | no   | no       | no         | no
api: share a signed one  | no   | yes     | yes               | no   | no       | no         | no
api: read a shared one   | yes  | yes     | yes               | no   | no       | no         | no
api: sign a shared one   | 403  | yes     | yes               | no   | no       | no         | no
api: answer a draft      | no   | 403     | 403               | no   | no       | no         | no
api: answer a shared one | yes  | 403     | 403               | no   | no       | no         | no
page: read a draft       | no   | yes     | yes               | no   | no       | no         | no
page: sign a draft       | no   | yes     | yes               | no   | no       | no         | no
page: share a signed one | no   | yes     | yes               | no   | no       | no         | no
page: read a shared one  | yes  | yes     | yes               | no   | no       | no         | no
page: answer a shared one| yes  | 403     | 403               | no   | no       | no         | no
admin: evaluate          | no   | yes     | yes               | no   | no       | no         | no
admin: read a draft      | no   | yes     | yes               | no   | no       | no         | no
admin: print a draft     | no   | yes     | yes               | no   | no       | no         | no
admin: progress          | no   | yes     | yes               | no   | no       | no         | no
admin: sign a draft      | no   | yes     | yes               | no   | no       | no         | no
admin: share a signed one| no   | yes     | yes               | no   | no       | no         | no
admin: read a shared one | no   | yes     | yes               | no   | no       | no         | no
"""
ROWS = {
    line.split("|")[0].strip(): [cell.strip() for cell in line.split("|")[1:]]
    for line in MATRIX.strip("\n").splitlines()[1:]
}
API, PAGE, ADMIN = "/api/memory/profile/report", "/profile/reports", "/admin/profiles/evaluationreport"
PERIOD = {"period_start": "2025-09-01", "period_end": "2025-09-30"}
IN_ADMIN = {"which": "own", "from": "2025-09-01", "to": "2025-09-30"}
Try = Callable[[Client, User, EvaluationReport], Any]


def get(address: str) -> Try:
    return lambda client, bob, report: client.get(address.format(bob=bob.pk, report=report.pk))


def post(address: str, body: dict[str, Any] | None = None, *, as_json: bool = True) -> Try:
    """With `{bob}` in an address, and for `BOB` in a body, the number of the subject."""

    def tried(client: Client, bob: User, report: EvaluationReport) -> Any:
        said = {name: bob.pk if value == "BOB" else value for name, value in (body or {}).items()}
        kind = {"content_type": "application/json"} if as_json else {}
        return client.post(address.format(bob=bob.pk, report=report.pk), said, **kind)

    return tried


TRIES: dict[str, Try] = {
    "api: see work": get("/api/tasks?assignee={bob}"),
    "api: see the profile": get("/api/memory/profile/{bob}"),
    "api: assign": post("/api/tasks", {"title": "新的", "assignee": "BOB"}),
    "api: evaluate": post(API, {"user_id": "BOB"} | PERIOD),
    "api: list reports": get(f"{API}?user_id={{bob}}"),
    "api: read a shared one": get(f"{API}/{{report}}"),
    "api: read a draft": get(f"{API}/{{report}}"),
    "api: sign a draft": post(f"{API}/{{report}}/sign"),
    "api: share a signed one": post(f"{API}/{{report}}/share"),
    "api: sign a shared one": post(f"{API}/{{report}}/sign"),
    "api: answer a draft": post(f"{API}/{{report}}/response", {"text": "好"}),
    "api: answer a shared one": post(f"{API}/{{report}}/response", {"text": "好"}),
    "page: read a draft": get(f"{PAGE}/{{report}}/"),
    "page: sign a draft": post(f"{PAGE}/{{report}}/sign/", as_json=False),
    "page: share a signed one": post(f"{PAGE}/{{report}}/share/", as_json=False),
    "page: read a shared one": get(f"{PAGE}/{{report}}/"),
    "page: answer a shared one": post(f"{PAGE}/{{report}}/response/", {"text": "好"}, as_json=False),
    "admin: evaluate": post(f"{ADMIN}/ask/{{bob}}/", IN_ADMIN, as_json=False),
    "admin: read a draft": get(f"{ADMIN}/{{report}}/change/"),
    "admin: print a draft": get(f"{ADMIN}/{{report}}/print/"),
    "admin: progress": get(f"{ADMIN}/{{report}}/progress/"),
    "admin: sign a draft": post(f"{ADMIN}/{{report}}/sign/", as_json=False),
    "admin: share a signed one": post(f"{ADMIN}/{{report}}/share/", as_json=False),
    "admin: read a shared one": get(f"{ADMIN}/{{report}}/change/"),
}
EFFECTS: dict[str, Callable[[], bool]] = {
    "assign": lambda: WorkTask.objects.filter(title="新的").exists(),
    "evaluate": lambda: EvaluationReport.objects.count() == 2,
    "sign a draft": lambda: EvaluationReport.objects.get().state == ReportState.SIGNED,
    "share a signed one": lambda: EvaluationReport.objects.get().state == ReportState.SHARED,
    "answer": lambda: EvaluationReport.objects.get().state == ReportState.ANSWERED,
}
"""What has changed when it was done, by how the act begins; reading changes nothing."""


@pytest.fixture
def everybody(people: dict[str, User]) -> dict[str, User]:
    """All roles, every one of them in the group that enters the admin; Frank's time as Bob's manager is over."""
    people["root"] = User.objects.create_superuser("root")
    for user in people.values():
        user.is_staff = True
        user.save()
        user.groups.add(Group.objects.get(name=MANAGERS))
    return people


def written_by_frank(people: dict[str, User], act: str) -> EvaluationReport:
    """A report in the state that the act is about, by somebody who then loses his sight of Bob."""
    frank, bob = people["frank"], people["bob"]
    report_to(bob, frank)
    busy_october(frank, bob)
    report = made(frank, bob)
    if "signed" in act or "shared" in act:
        reports.sign(frank, report.pk)
    if "shared" in act:
        reports.share(frank, report.pk)
    report_to(bob, people["alice"])
    return report


@pytest.mark.parametrize("act", ROWS)
def test_the_matrix(everybody: dict[str, User], act: str) -> None:
    assert len(ROWS[act]) == len(ROLES)
    found = []
    for name in ROLES:
        report = written_by_frank(everybody, act)
        answer = TRIES[act](browser(everybody[name]), everybody["bob"], report)
        found.append(outcome(act, answer))
        EvaluationReport.objects.all().delete()
        WorkTask.objects.all().delete()
    assert dict(zip(ROLES, found, strict=True)) == dict(zip(ROLES, ROWS[act], strict=True))


def outcome(act: str, answer: Any) -> str:
    """What came of it, told by the answer and by what has changed; `odd` where the two do not agree."""
    effect = next((changed for begin, changed in EFFECTS.items() if act.split(": ")[1].startswith(begin)), None)
    is_done = effect() if effect else answer.status_code == 200
    if answer.status_code == 404:
        return "no" if not is_done else "odd"
    if is_done:
        return "yes" if answer.status_code in (200, 201, 202, 302) else "odd"
    return "403" if answer.status_code == 403 or (act.startswith("page") and answer.status_code == 302) else "odd"


def test_the_table_is_whole() -> None:
    assert set(ROWS) == set(TRIES)
