"""Departments and the reporting line: groups that follow people, and no circles (P4)."""

import threading
from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from django.urls import reverse

from profiles.models import Department, UserProfile
from tests.factories import UserFactory
from tests.profiles.organisation import organisation


def department(name: str, parent: Department | None = None) -> Department:
    made = Department(name=name, parent=parent)
    made.save()
    return made


def groups(user: User) -> set[str]:
    return set(user.groups.values_list("name", flat=True))


def test_membership_follows_the_department_and_those_above_it(people: dict[str, User]) -> None:
    backend = department("后端组", Department.objects.get(name="研发中心"))
    bob = people["bob"]
    bob.groups.add(Group.objects.create(name="读书会"))
    assert groups(bob) == {"研发中心", "读书会"}
    bob.profile.department = backend
    bob.profile.save()
    assert groups(bob) == {"后端组", "研发中心", "读书会"}
    backend.parent = Department.objects.get(name="市场部")
    backend.save()
    assert groups(bob) == {"后端组", "市场部", "读书会"}
    bob.profile.department = None
    bob.profile.save()
    assert groups(bob) == {"读书会"}


def test_a_department_is_renamed_with_its_group(people: dict[str, User]) -> None:
    own = Department.objects.get(name="研发中心")
    own.name = "研发一部"
    own.save()
    assert groups(people["bob"]) == {"研发一部"}


def test_a_group_that_is_there_already_is_never_taken_over(db: None) -> None:
    """Or whoever names a department would give its people the powers of that group."""
    Group.objects.create(name="Administrators")
    assert department("Administrators").group.name == "Administrators (2)"


@pytest.mark.parametrize("manager", ["grace", "alice", "bob"])
def test_nobody_stands_below_themselves(people: dict[str, User], manager: str) -> None:
    """P4: refused in words by the model, and by the database whoever writes."""
    profile = UserProfile.objects.get(user=people["grace"])
    profile.manager = people[manager]
    with pytest.raises(ValidationError) as refused:
        profile.full_clean()
    assert set(refused.value.message_dict) == {"manager"}
    with pytest.raises(IntegrityError, match="circle"), transaction.atomic():
        profile.save()
    with pytest.raises(IntegrityError, match="circle"), transaction.atomic():
        UserProfile.objects.filter(user=people["grace"]).update(manager=people[manager])


def test_no_department_is_part_of_itself(people: dict[str, User]) -> None:
    own = Department.objects.get(name="研发中心")
    own.parent = department("后端组", own)
    with pytest.raises(ValidationError):
        own.full_clean()
    with pytest.raises(IntegrityError, match="circle"), transaction.atomic():
        own.save()


def test_two_changes_at_once_close_no_circle(transactional_db: None) -> None:
    """P4: each alone is harmless. One of them has to give way."""
    people = organisation()
    carol, frank = people["carol"], people["frank"]
    both_read, failed = threading.Barrier(2), []

    def change(person: User, manager: User) -> None:
        try:
            with transaction.atomic():
                UserProfile.objects.get(user=person)
                both_read.wait(timeout=20)
                UserProfile.objects.filter(user=person).update(manager=manager)
        except IntegrityError:
            failed.append(person)
        finally:
            connection.close()

    threads = [threading.Thread(target=change, args=pair) for pair in ((carol, frank), (frank, carol))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert len(failed) == 1
    assert UserProfile.objects.filter(user__in=[carol, frank]).exclude(manager=None).count() == 1


def test_a_circle_in_the_admin_is_told_at_its_field(people: dict[str, User], root: Client) -> None:
    grace = people["grace"]
    page = root.get(reverse("admin:auth_user_change", args=[grace.pk]))
    form = page.context["inline_admin_formsets"][0].formset.forms[0]
    data = {"username": "grace", "is_active": "on", "profile-TOTAL_FORMS": 1, "profile-INITIAL_FORMS": 1}
    data |= {f"profile-0-{name}": form[name].value() or "" for name in form.fields}
    answer = root.post(page.request["PATH_INFO"], data | {"profile-0-manager": people["bob"].pk})
    assert answer.status_code == 200
    assert "manager" in answer.context["inline_admin_formsets"][0].formset.forms[0].errors
    assert UserProfile.objects.get(user=grace).manager is None


def test_an_account_saved_in_the_admin_keeps_the_groups_of_its_department(
    people: dict[str, User], root: Client
) -> None:
    """The boxes there do not offer them, and saving them takes nothing away."""
    bob, club = people["bob"], Group.objects.create(name="读书会")
    page = root.get(reverse("admin:auth_user_change", args=[bob.pk]))
    assert "研发中心" not in [group.name for group in page.context["adminform"].form.fields["groups"].queryset]
    form = page.context["inline_admin_formsets"][0].formset.forms[0]
    data = {"username": "bob", "is_active": "on", "groups": club.pk}
    data |= {"profile-TOTAL_FORMS": 1, "profile-INITIAL_FORMS": 1}
    data |= {f"profile-0-{name}": form[name].value() or "" for name in form.fields}
    assert root.post(page.request["PATH_INFO"], data | {"profile-0-aliases": "小明, 明哥"}).status_code == 302
    assert groups(bob) == {"研发中心", "读书会"}
    assert UserProfile.objects.get(user=bob).aliases == ["小明", "明哥"]


def test_whoever_looks_after_accounts_cannot_put_anybody_under_themselves(
    people: dict[str, User],
) -> None:
    """Sight is a power: it is given by superusers."""
    clerk = UserFactory(username="clerk", is_staff=True)
    clerk.user_permissions.set(
        Permission.objects.filter(codename__in=["view_user", "change_user", "view_userprofile", "change_userprofile"])
    )
    desk = Client()
    desk.force_login(clerk)
    bob = people["bob"]
    data = {"username": "bob", "is_active": "on", "profile-TOTAL_FORMS": 1, "profile-INITIAL_FORMS": 1}
    data |= {"profile-0-user": bob.pk, "profile-0-display_name": "王大明", "profile-0-time_zone": "Asia/Shanghai"}
    data |= {"profile-0-manager": clerk.pk, "profile-0-department": ""}
    assert desk.post(reverse("admin:auth_user_change", args=[bob.pk]), data).status_code == 302
    profile = UserProfile.objects.get(user=bob)
    assert (profile.display_name, profile.manager, profile.department_name) == ("王大明", people["alice"], "研发中心")


def test_a_department_with_people_is_not_deleted(people: dict[str, User], root: Client) -> None:
    own, empty = Department.objects.get(name="研发中心"), department("空部门")
    assert root.post(reverse("admin:profiles_department_delete", args=[own.pk]), {"post": "yes"}).status_code == 403
    assert root.post(reverse("admin:profiles_department_delete", args=[empty.pk]), {"post": "yes"}).status_code == 302
    assert Group.objects.filter(name="空部门").exists(), "what was granted to it must not be open to everybody"


def test_the_texts_of_before_become_departments(transactional_db: None) -> None:
    """The migration gives each text one department, with a group of its own and its people in it."""

    def migrate(name: str) -> Callable[..., type]:
        executor = MigrationExecutor(connection)
        executor.migrate([("profiles", name)])
        return MigrationExecutor(connection).loader.project_state([("profiles", name)]).apps.get_model

    latest = max(name for app, name in MigrationExecutor(connection).loader.graph.nodes if app == "profiles")
    try:
        model = migrate("0003_departments")
        users = [User.objects.create(username=name) for name in ("bob", "dan", "carol", "frank")]
        Group.objects.create(name="市场部")
        for user, text in zip(users, ("研发中心", " 研发中心 ", "市场部", ""), strict=True):
            model("profiles", "UserProfile").objects.create(user_id=user.pk, display_name="x", department_name=text)
        migrate("0004_departments_of_people")
    finally:
        migrate(latest)
    found = {p.user.username: p.department_name for p in UserProfile.objects.select_related("department", "user")}
    assert found == {"bob": "研发中心", "dan": "研发中心", "carol": "市场部", "frank": ""}
    assert [groups(user) for user in users] == [{"研发中心"}, {"研发中心"}, {"市场部 (2)"}, set()]
