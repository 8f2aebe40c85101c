"""The demo organisation: real from the first minute, and never in the way of real people (O1)."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from config.demo.people import PASSWORD, PEOPLE
from flows import shipped
from flows.models import Flow
from memory import forgetting
from memory.models import Conversation, Turn
from profiles.models import EvaluationReport, Figures, FlowUse, ProfileTag, UserProfile, WorkStatus, WorkTask
from profiles.naming import person_called
from profiles.portrait import portrait_of
from profiles.reports.metrics import RATES

pytestmark = pytest.mark.django_db


def test_everybody_can_log_in_and_every_shipped_flow_is_there() -> None:
    call_command("seed_demo")
    assert {user.username for user in User.objects.all() if user.check_password(PASSWORD)} == {
        person.username for person in PEOPLE
    }
    slugs = ["assistant", "weekly-report", "translate-polish", "assign-work"]
    assert [flow.slug for flow in Flow.objects.order_by("pk")] == slugs


def test_bob_and_alice_have_a_past() -> None:
    call_command("seed_demo")
    owners = set(Conversation.objects.values_list("user__username", flat=True))
    assert owners == {"alice", "bob"}
    assert all(turn.is_replayable for turn in Turn.objects.all())


def test_running_it_again_changes_nothing_and_brings_nothing_back(settings: Any) -> None:
    settings.DEBUG = True
    call_command("seed_demo")
    bob = User.objects.get(username="bob")
    forgetting.erase(bob, scope=forgetting.Scope.ALL)
    before = User.objects.count(), Flow.objects.count(), Conversation.objects.count()
    call_command("seed_demo")
    assert (User.objects.count(), Flow.objects.count(), Conversation.objects.count()) == before
    assert not Conversation.objects.visible_to(bob).exists()
    assert {flow.versions.count() for flow in Flow.objects.all()} == {1}


def test_it_keeps_away_from_a_database_with_people_unless_debugging(settings: Any) -> None:
    settings.DEBUG = False
    User.objects.create(username="somebody")
    with pytest.raises(CommandError, match="has people in it"):
        call_command("seed_demo")
    assert not Flow.objects.exists()


def test_what_an_administrator_changed_of_a_shipped_flow_stays() -> None:
    call_command("seed_demo")
    Flow.objects.filter(slug="assistant").update(name="我们的助手")
    shipped.install()
    assert Flow.objects.get(slug="assistant").name == "我们的助手"


def test_the_reporting_line_departments_and_nicknames_are_there() -> None:
    """P4: Grace leads Alice, who leads Bob, Dan and Erin; there are two called 小明."""
    call_command("seed_demo")
    people = {profile.user.username: profile for profile in UserProfile.objects.select_related("user", "department")}
    line = {name: profile.manager.username for name, profile in people.items() if profile.manager}
    assert line == {"alice": "grace", "bob": "alice", "dan": "alice", "erin": "alice"}
    assert (people["bob"].department_name, people["carol"].department_name) == ("研发中心", "市场部")
    assert people["bob"].user.groups.filter(name="研发中心").exists()
    assert {found.user.username for found in person_called("小明", people["alice"].user).people} == {"bob", "dan"}


def test_there_is_work_in_every_state_and_it_does_not_come_back(settings: Any) -> None:
    """P5."""
    settings.DEBUG = True
    call_command("seed_demo")
    for name in ("bob", "dan", "erin"):
        tasks = WorkTask.objects.filter(assignee__username=name)
        assert tasks.overdue().exists(), name
        assert {WorkStatus.OPEN, WorkStatus.IN_PROGRESS, WorkStatus.DONE} <= set(tasks.values_list("status", flat=True))
        assert {"alice", name} <= set(tasks.values_list("creator__username", flat=True))
        for task in tasks.prefetch_related("events"):
            times = [event.at for event in task.events.all()]
            assert times == sorted(times)
            assert task.events.all()[0].field == "created"
    WorkTask.objects.filter(assignee__username="bob").delete()
    call_command("seed_demo")
    assert not WorkTask.objects.filter(assignee__username="bob").exists()


def test_bobs_profile_opens_with_figures_and_with_something_to_decide(settings: Any) -> None:
    """P1, P2: confirmed and suggested tags with memories behind them; a second time nothing is added."""
    settings.DEBUG = True
    call_command("seed_demo")
    bob = User.objects.get(username="bob")
    figures = Figures.objects.get(pk=bob.pk)
    assert figures.favorite_workflows[0]["count"] == 46
    assert figures.task_completion_rate
    assert figures.preferred_work_hours
    tags = {(tag.status, tag.evidence.count() > 0) for tag in ProfileTag.objects.of(bob)}
    assert tags == {("confirmed", True), ("suggested", True)}
    assert "工作风格: 注重细节" in portrait_of(bob)
    before = FlowUse.objects.count(), ProfileTag.objects.count()
    call_command("seed_demo")
    assert (FlowUse.objects.count(), ProfileTag.objects.count()) == before


def test_bob_has_a_report_to_answer_and_alice_one_to_sign(settings: Any) -> None:
    """P7: with figures that enough was counted for; a second time nothing is added."""
    settings.DEBUG = True
    call_command("seed_demo")
    alice, bob = (User.objects.get(username=name) for name in ("alice", "bob"))
    (shared,) = EvaluationReport.objects.shared_with(bob)
    assert (shared.signed_by, shared.response, shared.narrative_note) == (alice, "", "no_model")
    draft = EvaluationReport.objects.below(alice).get(state="draft")
    for report in (shared, draft):
        assert report.metrics["enough_data"]
        assert None not in [report.metrics[name] for name in RATES]
        assert {item["kind"] for item in report.evidence} >= {"metric", "work", "flow"}
    assert "tag" in {item["kind"] for item in shared.evidence}
    shared.delete()
    call_command("seed_demo")
    assert not EvaluationReport.objects.shared_with(bob).exists()
