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

pytestmark = pytest.mark.django_db


def test_everybody_can_log_in_and_every_shipped_flow_is_there() -> None:
    call_command("seed_demo")
    assert {user.username for user in User.objects.all() if user.check_password(PASSWORD)} == {
        person.username for person in PEOPLE
    }
    assert [flow.slug for flow in Flow.objects.order_by("pk")] == ["assistant", "weekly-report", "translate-polish"]


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
