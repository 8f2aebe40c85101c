"""Who looked at whom: noted in one place, read by the subject, kept for two years (P4)."""

from datetime import timedelta

from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from profiles import tasks as jobs
from profiles import work
from profiles.apps import MANAGERS
from profiles.models import Look, Sight
from tests.profiles.conftest import Cast

LOG = "/api/memory/profile/access-log"


def seen(cast: Cast, name: str) -> list[tuple[str, str]]:
    """Who looked at this person at what, the newest first."""
    rows = cast[name].api.get(LOG).json()["results"]
    assert all(set(row) == {"viewer", "what", "at"} for row in rows)
    return [(row["viewer"]["display_name"], row["what"]) for row in rows]


def test_a_list_of_subordinates_is_a_look_at_each(cast: Cast) -> None:
    cast["alice"].api.get("/api/people")
    for name in ("bob", "dan", "erin"):
        assert seen(cast, name) == [("张岚", "list")]
    assert seen(cast, "alice") == seen(cast, "grace") == seen(cast, "carol") == []


def test_only_those_on_the_page_that_was_given_out_were_looked_at(cast: Cast) -> None:
    first = cast["alice"].api.get("/api/people", params={"limit": 2}).json()["results"]
    looked_at = set(Look.objects.values_list("subject_id", flat=True))
    assert looked_at == {row["user_id"] for row in first} - {cast["alice"].user.pk}


def test_work_that_is_looked_at_is_noted(cast: Cast) -> None:
    alice, bob = cast["alice"], cast["bob"]
    task = bob.api.post("/api/tasks", json={"title": "x"}).json()
    for address in ("/api/tasks?assignee=team", f"/api/tasks/{task['id']}"):
        alice.api.get(address)
    page = Client()
    page.force_login(alice.user)
    page.get("/tasks/?tab=team")
    assert seen(cast, "bob") == [("张岚", "work")] * 3
    bob.api.get("/api/tasks")
    assert len(seen(cast, "bob")) == 3, "one's own work is nobody's business"


def test_a_look_that_found_nothing_is_none(cast: Cast) -> None:
    task = cast["bob"].api.post("/api/tasks", json={"title": "x"}).json()
    cast["carol"].api.get(f"/api/tasks/{task['id']}")
    cast["carol"].api.get("/api/people")
    assert not Look.objects.exists()


def test_the_admin_is_no_way_round(people: dict[str, User], client: Client) -> None:
    """P8: lists, pages of people and of tasks."""
    alice, bob = people["alice"], people["bob"]
    alice.is_staff = True
    alice.save()
    alice.groups.add(Group.objects.get(name=MANAGERS))
    task, _is_new = work.give(bob, work.NewTask("x", bob.pk))
    client.force_login(alice)
    for address in ("userprofile/", f"userprofile/{bob.pk}/change/", "worktask/", f"worktask/{task.pk}/change/"):
        assert client.get(f"/admin/profiles/{address}").status_code == 200
    sights = list(Look.objects.at(bob).order_by("pk").values_list("sight", flat=True))
    assert sights == [Sight.LIST, Sight.PROFILE, Sight.WORK, Sight.WORK]
    assert not Look.objects.at(people["carol"]).exists()


def test_an_administrators_look_at_an_account_is_noted_too(people: dict[str, User], root: Client) -> None:
    root.get(f"/admin/auth/user/{people['bob'].pk}/change/")
    assert [look.sight for look in Look.objects.at(people["bob"])] == [Sight.PROFILE]


def test_the_log_comes_in_pages_and_knows_no_filters(cast: Cast) -> None:
    for _ in range(3):
        cast["alice"].api.get("/api/people")
    page = cast["bob"].api.get(LOG, params={"limit": 2}).json()
    rest = cast["bob"].api.get(page["next"]).json()
    assert (len(page["results"]), len(rest["results"]), rest["next"]) == (2, 1, None)
    assert cast["bob"].api.get(LOG, params={"user_id": "1"}).status_code == 400


def test_it_is_swept_after_two_years(people: dict[str, User]) -> None:
    Look.objects.record(people["alice"], [people["bob"].pk], sight=Sight.PROFILE)
    Look.objects.record(people["grace"], [people["bob"].pk], sight=Sight.PROFILE)
    Look.objects.filter(viewer=people["alice"]).update(at=timezone.now() - timedelta(days=731))
    jobs.sweep_access_log()
    assert [look.viewer for look in Look.objects.all()] == [people["grace"]]


def test_a_viewer_whose_account_is_gone_is_somebody(cast: Cast) -> None:
    cast["alice"].api.get("/api/people")
    cast["alice"].user.delete()
    assert cast["bob"].api.get(LOG).json()["results"][0]["viewer"] is None
