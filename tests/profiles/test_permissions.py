"""Who may see, assign to and evaluate whom (P4): asked of the policy, of the API and of the admin."""

import itertools

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from profiles import work
from profiles.apps import MANAGERS
from profiles.errors import PersonNotFound
from profiles.models import UserProfile, WorkTask
from profiles.permissions import Act, policy
from tests.profiles.conftest import Cast
from tests.profiles.organisation import NAMES, report_to

PEOPLE = tuple(NAMES)
BELOW = {"grace": {"alice", "bob", "dan", "erin"}, "alice": {"bob", "dan", "erin"}}
"""Who stands below whom; everybody else leads nobody."""


def named(rows: object) -> set[str]:
    return {profile.user.username for profile in rows}  # type: ignore[attr-defined]


@pytest.mark.parametrize(("viewer", "other"), list(itertools.product(PEOPLE, PEOPLE)))
def test_the_reporting_line_alone_decides(people: dict[str, User], viewer: str, other: str) -> None:
    """P4: self, manager, manager's manager, peer, stranger."""
    below, own = other in BELOW.get(viewer, set()), viewer == other
    expected = {Act.SEE: below or own, Act.ASSIGN: below or own, Act.EVALUATE: below}
    for act, allowed in expected.items():
        assert policy.allows(people[viewer], act, people[other]) is allowed, act
        rows = policy.rows(User.objects.all(), people[viewer], act)
        assert (people[other] in rows) is allowed, act


@pytest.mark.parametrize("viewer", PEOPLE)
def test_the_api_shows_and_takes_exactly_these(cast: Cast, viewer: str) -> None:
    """P4, P5: a person out of sight looks like one who does not exist."""
    seen = BELOW.get(viewer, set()) | {viewer}
    for address in ("/api/people", "/api/people?assignable=true"):
        shown = cast[viewer].api.get(address).json()["results"]
        assert {row["display_name"] for row in shown} == {NAMES[name] for name in seen}
    missing = cast[viewer].api.post("/api/tasks", json={"title": "x", "assignee": 987654})
    for other, person in cast.items():
        given = cast[viewer].api.post("/api/tasks", json={"title": "x", "assignee": person.user.pk})
        listed = cast[viewer].api.get("/api/tasks", params={"assignee": str(person.user.pk)})
        assert given.status_code == (201 if other in seen else 404), other
        assert listed.status_code == (200 if other in seen else 404), other
        assert other in seen or given.text == missing.text
    assert {task.assignee.username for task in WorkTask.objects.all()} == seen


@pytest.mark.parametrize("viewer", ["grace", "alice", "dan", "carol"])
def test_managers_see_their_reports_in_the_admin_and_nothing_else(
    people: dict[str, User], client: Client, viewer: str
) -> None:
    """P8."""
    tasks = {name: work.give(user, work.NewTask("x", user.pk))[0] for name, user in people.items()}
    user = people[viewer]
    user.is_staff = True
    user.save()
    user.groups.add(Group.objects.get(name=MANAGERS))
    client.force_login(user)
    seen = BELOW.get(viewer, set()) | {viewer}
    listed = client.get("/admin/profiles/userprofile/").context["cl"].result_list
    assert named(listed) == seen
    work_listed = client.get("/admin/profiles/worktask/").context["cl"].result_list
    assert {task.assignee.username for task in work_listed} == seen
    for name, person in people.items():
        wanted = 200 if name in seen else 404
        assert client.get(f"/admin/profiles/userprofile/{person.pk}/change/").status_code == wanted, name
        assert client.get(f"/admin/profiles/worktask/{tasks[name].pk}/change/").status_code == wanted, name
    assert {member.profile.user.username for member in client.get("/admin/").context["team"].members} == seen - {viewer}
    for closed in ("auth/user/", "auth/group/", "profiles/department/", "profiles/userprofile/import/", "flows/flow/"):
        assert client.get(f"/admin/{closed}").status_code == 403, closed


def test_an_ex_manager_loses_sight_at_once(cast: Cast) -> None:
    """P4: with the same login, on the next request; so does whoever stands above."""
    bob, alice, grace = cast["bob"], cast["alice"], cast["grace"]
    own = bob.api.post("/api/tasks", json={"title": "自己的"}).json()["id"]
    for manager in (alice, grace):
        assert manager.api.get(f"/api/tasks/{own}").status_code == 200
    report_to(bob.user, None)
    for manager in (alice, grace):
        assert manager.api.get(f"/api/tasks/{own}").status_code == 404
        assert manager.api.get("/api/tasks", params={"assignee": str(bob.user.pk)}).status_code == 404
        assert "王小明" not in manager.api.get("/api/people").text
        assert manager.api.post("/api/tasks", json={"title": "x", "assignee": bob.user.pk}).status_code == 404
        assert not policy.allows(manager.user, Act.EVALUATE, bob.user)
    assert bob.api.get(f"/api/tasks/{own}").status_code == 200


def test_a_new_manager_sees_at_once(people: dict[str, User]) -> None:
    report_to(people["bob"], people["frank"])
    assert named(UserProfile.objects.visible_to(people["frank"])) == {"frank", "bob"}


def test_a_manager_who_was_deactivated_sees_nobody_and_the_line_above_goes_on(people: dict[str, User]) -> None:
    people["alice"].is_active = False
    people["alice"].save()
    assert not UserProfile.objects.visible_to(people["alice"]).exists()
    assert named(UserProfile.objects.visible_to(people["grace"])) == {"grace", *BELOW["grace"]}


def test_somebody_who_was_deactivated_is_still_seen_but_given_no_work(people: dict[str, User]) -> None:
    people["bob"].is_active = False
    people["bob"].save()
    alice = people["alice"]
    assert "bob" in named(UserProfile.objects.visible_to(alice))
    assert "bob" not in named(UserProfile.objects.assignable_by(alice))
    assert policy.allows(alice, Act.EVALUATE, people["bob"])
    with pytest.raises(PersonNotFound):
        work.give(alice, work.NewTask("x", people["bob"].pk))


def test_a_superuser_sees_nobody_by_rank(people: dict[str, User]) -> None:
    """P4: not through the API, where there is only the reporting line."""
    root = User.objects.create_superuser("root")
    assert not UserProfile.objects.visible_to(root).exists()
    assert not policy.allows(root, Act.SEE, people["bob"])


def test_a_list_takes_one_query_however_deep_the_line(
    people: dict[str, User], django_assert_num_queries: pytest.FixtureRequest
) -> None:
    """P4: one recursive query."""
    with django_assert_num_queries(1):  # type: ignore[operator]
        assert len(UserProfile.objects.visible_to(people["grace"])) == 5
