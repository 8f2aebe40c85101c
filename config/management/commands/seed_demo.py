"""`manage.py seed_demo`: the demo organisation and the shipped flows."""

from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group, User
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from config.demo.history import add_history
from config.demo.people import DEPARTMENTS, MANAGERS, PASSWORD, PEOPLE, DemoPerson
from config.demo.profile import add_profiles
from config.demo.reports import add_reports
from config.demo.work import add_work
from flows import shipped
from profiles.apps import MANAGERS as MANAGERS_GROUP
from profiles.models import Department, UserProfile


class Command(BaseCommand):
    """Adds what is missing and changes nobody's password; running it again is harmless."""

    help = "Fills an empty installation with the demo organisation."

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEBUG and User.objects.exists():
            raise CommandError("This database has people in it, and DEBUG is off. The demo is for empty databases.")
        shipped.install()
        password = make_password(PASSWORD)  # hashed once: eight times would take seconds
        departments = {name: _department(name) for name in DEPARTMENTS}
        made = {person.username: _add(person, password, departments[person.department]) for person in PEOPLE}
        _set_managers()
        _give_managers_the_admin()
        people = {user.username: user for user in User.objects.filter(username__in=made)}
        if any(made.values()):
            add_work(people)
            new = {name: user for name, user in people.items() if made[name]}
            add_profiles(new)
            add_reports(new)
        self.stdout.write(f"Demo organisation: {len(PEOPLE)} people, password {PASSWORD}.")


def _department(name: str) -> Department:
    department = Department.objects.filter(name=name).first() or Department(name=name)
    if department.pk is None:
        department.save()
    return department


def _add(person: DemoPerson, password: str, department: Department) -> bool:
    """Adds the person with their profile and their past, if they are not there; whether they are new."""
    user, made = User.objects.get_or_create(
        username=person.username,
        defaults={"is_staff": person.username == "admin", "is_superuser": person.username == "admin"},
    )
    if made:
        user.password = password
        user.save()
        add_history(user)
    UserProfile.objects.update_or_create(
        user=user,
        defaults={
            "display_name": person.name,
            "position": person.position,
            "department": department,
            "aliases": list(person.aliases),
        },
    )
    return made


def _set_managers() -> None:
    """The reporting line, once everybody is there."""
    people = {user.username: user for user in User.objects.filter(username__in=[p.username for p in PEOPLE])}
    for person in PEOPLE:
        profile = UserProfile.objects.get(user=people[person.username])
        profile.manager = people[person.manager] if person.manager else None
        profile.save(update_fields=["manager"])


def _give_managers_the_admin() -> None:
    """Managers look at their people there."""
    group = Group.objects.get(name=MANAGERS_GROUP)
    for user in User.objects.filter(username__in=MANAGERS, is_staff=False):
        user.is_staff = True
        user.save(update_fields=["is_staff"])
        user.groups.add(group)
