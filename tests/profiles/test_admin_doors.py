"""P4, P8: managers in the admin see their people, and there is no way round: no other table, no side door, no text."""

import re
from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.urls import reverse

from profiles import work
from profiles.aggregation import aggregate
from profiles.models import EvaluationReport, TagKind, TagStatus, UserProfile, WorkTask
from tests.factories import ConversationFactory, TurnFactory, make_flow
from tests.profiles.managing import manager, member, used
from tests.profiles.organisation import report_to
from tests.profiles.reporting import made
from tests.profiles.test_profile_page import tag
from tests.test_admin import addresses

Cast = dict[str, User]
CANARY = "金丝雀7f3a"
OPEN = (UserProfile, WorkTask, EvaluationReport)


@pytest.fixture
def alice(people: Cast) -> Client:
    return manager(people["alice"])


def told(people: Cast) -> None:
    """Everything about Bob that is nobody's business, each with the canary."""
    bob, flow = people["bob"], make_flow()
    texts = {"title": f"{CANARY}标题", "summary": f"{CANARY}摘要"}
    session = ConversationFactory(user=bob, flow_id=flow.pk, flow_name=flow.name, **texts)
    TurnFactory(conversation=session, input=f"{CANARY}问", output=f"{CANARY}答")
    tag(bob, TagKind.TOPIC, f"{CANARY}建议", TagStatus.SUGGESTED)
    tag(bob, TagKind.STYLE, f"{CANARY}自留", TagStatus.CONFIRMED, shared=False)
    tag(bob, TagKind.EXPERTISE, f"{CANARY}否认", TagStatus.REJECTED)
    tag(bob, TagKind.TONE, f"{CANARY}语气", TagStatus.CONFIRMED)
    tag(bob, TagKind.TOPIC, "北斗项目", TagStatus.CONFIRMED)
    UserProfile.objects.filter(pk=bob.pk).update(
        communication_tone=f"{CANARY}语气", preferred_llm_model=f"{CANARY}模型"
    )
    for days in range(1, 13):
        used(bob, days)
    work.give(people["alice"], work.NewTask("季度报告", bob.pk))
    aggregate()
    made(people["alice"], bob)


def open_addresses(people: Cast) -> Iterator[str]:
    """Every address of the admin, and the parts of a report."""
    yield "/admin/"
    yield from addresses()
    yield from (f"{member(people['bob'])}?show={show}" for show in ("4w", "52w", "own"))


def test_nothing_that_is_private_is_on_any_page(people: Cast, alice: Client) -> None:
    """Chats, suggestions, tags that are withheld or denied, the tone, the model: on no page; hours neither."""
    told(people)
    pages = {address: alice.get(address, follow=True) for address in open_addresses(people)}
    assert len([page for page in pages.values() if page.status_code == 200]) > 25
    bodies = {address: page.content.decode() for address, page in pages.items()}
    assert [address for address, page in pages.items() if page.status_code >= 500] == []
    assert [address for address, body in bodies.items() if CANARY in body] == []
    assert [address for address, body in bodies.items() if "preferred_work_hours" in body] == []
    assert [
        address for address, body in bodies.items() if re.search(r"<style|<script(?![^>]*\ssrc=)|\son\w+=", body)
    ] == []
    assert "北斗项目" in bodies[member(people["bob"])], "what is shared is there, so that the search means something"


def test_the_menu_and_the_tables_are_three(people: Cast, alice: Client) -> None:
    links = set(re.findall(r'href="(/admin/\w+/\w+/)"', alice.get("/admin/").content.decode()))
    links -= {"/admin/password_change/"}
    assert links <= {reverse(f"admin:profiles_{model._meta.model_name}_changelist") for model in OPEN}
    told(people)
    for model in set(admin.site._registry) - set(OPEN):
        home = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        keys = [str(key) for key in model._default_manager.values_list("pk", flat=True)[:3]] or ["1"]
        closed = [home, f"{home}add/", *(f"{home}{key}/{part}/" for key in keys for part in ("change", "delete"))]
        closed += [f"{home}{key}/history/" for key in keys]
        assert {alice.get(address).status_code for address in closed} <= {403, 404}, home
        assert alice.post(home, {"action": "delete_selected", "_selected_action": keys}).status_code == 403


@pytest.mark.parametrize("who", ["carol", "frank", "grace"])
@pytest.mark.parametrize("part", ["change", "history"])
def test_somebody_out_of_sight_looks_like_nobody(people: Cast, alice: Client, who: str, part: str) -> None:
    """A stranger, a colleague, and one's own manager."""
    for key in (people[who].pk, 999_999, "x", "1e3", "9" * 30):
        answer = alice.get(f"/admin/profiles/userprofile/{key}/{part}/")
        assert (answer.status_code, people[who].profile.display_name in answer.content.decode()) == (404, False), key


def test_tasks_out_of_sight_look_like_none(people: Cast, alice: Client) -> None:
    task, _is_new = work.give(people["carol"], work.NewTask("别人的", people["carol"].pk))
    for key in (task.pk, 999_999):
        assert alice.get(f"/admin/profiles/worktask/{key}/change/").status_code == 404


@pytest.mark.parametrize("model", [model._meta.model_name for model in OPEN])
def test_nothing_is_added_changed_or_deleted(people: Cast, alice: Client, model: str) -> None:
    told(people)
    home = f"/admin/profiles/{model}/"
    keys = [
        str(key)
        for key in dict(zip((m._meta.model_name for m in OPEN), OPEN, strict=True))[model].objects.values_list(
            "pk", flat=True
        )
    ]
    assert alice.get(f"{home}add/").status_code == alice.post(f"{home}add/").status_code == 403
    for key in keys:
        assert alice.post(f"{home}{key}/delete/", {"post": "yes"}).status_code == 403
        assert alice.post(f"{home}{key}/change/", {"display_name": "x"}).status_code in (403, 404, 405)
    alice.post(home, {"action": "delete_selected", "_selected_action": keys, "post": "yes"})
    assert not UserProfile.objects.filter(display_name="x").exists()
    assert (UserProfile.objects.count(), WorkTask.objects.count(), EvaluationReport.objects.count()) == (7, 1, 1)


@pytest.mark.parametrize(
    "question",
    [
        "userprofile/?department__people__display_name__startswith=周",
        "userprofile/?department__people__isnull=0",
        "userprofile/?manager__password__startswith=x",
        "userprofile/?user__profile_tags__value__contains=x",
        "worktask/?status__in=open&assignee__password__contains=x",
        "worktask/?due_at__hour=9",
        "evaluationreport/?state__regex=x",
        "evaluationreport/?subject__figures__preferred_work_hours__contains=9",
        "userprofile/?_to_field=password",
        "userprofile/?_to_field=communication_tone",
    ],
)
def test_no_list_can_be_asked_about_anything_else(people: Cast, alice: Client, question: str) -> None:
    """How many rows match would tell a text letter by letter, through departments also of strangers."""
    page = alice.get(f"/admin/profiles/{question}", follow=True)
    assert page.status_code == 400 or "e=1" in page.request["QUERY_STRING"]


def test_filters_name_the_departments_of_ones_own_people_alone(people: Cast, alice: Client) -> None:
    body = alice.get("/admin/profiles/userprofile/").content.decode()
    assert "研发中心" in body
    assert "市场部" not in body
    own = people["bob"].profile.department_id
    assert len(alice.get(f"/admin/profiles/userprofile/?department__id__exact={own}").context["cl"].result_list) == 4


def test_searching_windows_and_shortcuts_tell_nobody(people: Cast, alice: Client) -> None:
    told(people)
    assert alice.get("/admin/autocomplete/?app_label=auth&model_name=user&field_name=x&term=ca").status_code == 403
    for word in ("carol", "周可"):
        assert "carol" not in alice.get(f"/admin/search/?s={word}&extended=1").content.decode()
        for table in OPEN:
            found = alice.get(f"/admin/profiles/{table._meta.model_name}/?q={word}").context["cl"].result_list
            assert not found, table
    kind = ContentType.objects.get_for_model(User).pk
    shortcuts = {alice.get(f"/admin/r/{kind}/{key}/").status_code for key in (people["carol"].pk, 999_999)}
    assert shortcuts == {404}


def test_no_field_of_the_account_is_shown(people: Cast, alice: Client) -> None:
    bob = people["bob"]
    User.objects.filter(pk=bob.pk).update(email="bob@tacit.test", last_login="2026-01-01T10:17Z")
    Group.objects.create(name="秘密小组").user_set.add(bob)
    for address in (member(bob), "/admin/profiles/userprofile/", "/admin/"):
        body = alice.get(address).content.decode()
        assert not [
            word for word in ("bob@tacit.test", "10:17", "秘密小组", bob.password, "id_password") if word in body
        ]


def test_an_ex_manager_finds_nothing_from_the_next_request_on(people: Cast, alice: Client) -> None:
    told(people)
    bob, task, report = people["bob"], WorkTask.objects.get(), EvaluationReport.objects.get()
    places = (
        member(bob),
        f"/admin/profiles/evaluationreport/{report.pk}/change/",
        f"/admin/profiles/evaluationreport/{report.pk}/print/",
        f"/admin/profiles/worktask/{task.pk}/change/",
    )
    assert {alice.get(place).status_code for place in places} == {200}
    report_to(bob, people["carol"])
    assert {alice.get(place).status_code for place in places} == {404}
    assert "王小明" not in alice.get("/admin/").content.decode()


def test_whoever_is_not_staff_or_no_manager_stays_outside(people: Cast, client: Client) -> None:
    told(people)
    client.force_login(people["erin"])
    assert client.get("/admin/", follow=True).status_code == 403
    assert client.get(member(people["bob"]), follow=True).status_code == 403
    people["alice"].is_staff = True
    people["alice"].save()
    client.force_login(people["alice"])
    assert client.get(member(people["bob"])).status_code == 403
    report = EvaluationReport.objects.get()
    assert client.get(f"/admin/profiles/evaluationreport/{report.pk}/change/").status_code in (403, 404)
