"""People and groups in the admin: accounts with their profile, and nobody makes themselves more than they are."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import reverse

from profiles.models import Department
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

PROFILE = {
    "profile-TOTAL_FORMS": 1,
    "profile-INITIAL_FORMS": 0,
    "profile-0-display_name": "王小明",
    "profile-0-time_zone": "Asia/Shanghai",
    "profile-0-preferred_language": "zh-hans",
}


@pytest.fixture
def clerk(client: Client) -> Client:
    """A browser of somebody on the staff who may see, add and change users."""
    user = UserFactory(username="clerk", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_user", "add_user", "change_user"]))
    client.force_login(user)
    return client


def change(user: User) -> str:
    return reverse("admin:auth_user_change", args=[user.pk])


def test_a_person_is_added_with_their_profile(root: Client) -> None:
    """P1."""
    account = {"username": "bob", "password1": "a-long-one", "password2": "a-long-one"}
    department = Department(name="研发中心")
    department.save()
    page = root.post(reverse("admin:auth_user_add"), {**account, **PROFILE, "profile-0-department": department.pk})
    assert page.status_code == 302
    profile = User.objects.get(username="bob").profile
    assert (profile.display_name, profile.department_name) == ("王小明", "研发中心")
    assert "王小明" in root.get(reverse("admin:auth_user_changelist")).content.decode()


def test_a_person_without_a_name_is_not_added(root: Client) -> None:
    account = {"username": "bob", "password1": "a-long-one", "password2": "a-long-one"}
    root.post(reverse("admin:auth_user_add"), {**account, **PROFILE, "profile-0-display_name": ""})
    assert not User.objects.filter(username="bob").exists()


def test_people_are_found_by_their_user_name_alone(root: Client) -> None:
    UserFactory(username="bob", email="wang@tacit.test")
    page = reverse("admin:auth_user_changelist")
    assert [user.username for user in root.get(page + "?q=bo").context["cl"].result_list] == ["bob"]
    assert not root.get(page + "?q=wang").context["cl"].result_list


def test_people_are_deactivated_and_not_deleted(root: Client) -> None:
    """M10: what a person said is that person's to erase, with every copy of it."""
    bob = UserFactory(username="bob")
    assert root.post(reverse("admin:auth_user_delete", args=[bob.pk]), {"post": "yes"}).status_code == 403
    root.post(change(bob), {"username": "bob", **PROFILE})
    bob.refresh_from_db()
    assert not bob.is_active


def test_whoever_looks_after_users_gains_no_power(clerk: Client) -> None:
    me = User.objects.get(username="clerk")
    powers = {"is_active": "on", "is_staff": "on", "is_superuser": "on", "groups": Group.objects.create(name="g").pk}
    assert clerk.post(change(me), {"username": "clerk", **powers, **PROFILE}).status_code == 302
    me.refresh_from_db()
    assert (me.is_active, me.is_superuser, me.groups.exists()) == (True, False, False)


def test_a_superuser_is_changed_by_superusers_alone(clerk: Client) -> None:
    """Who may set a password may log in with it."""
    root = User.objects.create_superuser("root", password="a-long-one")
    password = reverse("admin:auth_user_password_change", args=[root.pk])
    new = {"password1": "another-long-one", "password2": "another-long-one"}
    assert clerk.post(password, new).status_code == 403
    assert clerk.post(change(root), {"username": "mine", **PROFILE}).status_code == 403
    root.refresh_from_db()
    assert root.check_password("a-long-one")


def test_only_permissions_that_do_something_are_offered(root: Client) -> None:
    page = root.get(reverse("admin:auth_group_add"), headers={"accept-language": "en"})
    offered: Any = page.context["adminform"].form.fields["permissions"]
    labels = [offered.label_from_instance(permission) for permission in offered.queryset]
    assert labels == [
        "Group: view",
        "User: add",
        "User: change",
        "User: view",
        "Flow: change",
        "Flow: view",
        "Conversation: view",
        "Unread stretch: view",
        "Report: view",
        "Profile: view",
        "Task: view",
    ]


def test_groups_are_a_superusers(clerk: Client) -> None:
    """A group carries permissions: whoever could change one would give them to its members."""
    User.objects.get(username="clerk").user_permissions.add(Permission.objects.get(codename="change_group"))
    group = Group.objects.create(name="g")
    assert clerk.post(reverse("admin:auth_group_change", args=[group.pk]), {"name": "x"}).status_code == 403
    assert clerk.post(reverse("admin:auth_group_add"), {"name": "x"}).status_code == 403
