"""`manage.py seed_demo`: the demo organisation and the shipped flows."""

from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from config.demo.history import add_history
from config.demo.people import PASSWORD, PEOPLE, DemoPerson
from flows import shipped
from profiles.models import UserProfile


class Command(BaseCommand):
    """Adds what is missing and changes nobody's password; running it again is harmless."""

    help = "Fills an empty installation with the demo organisation."

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEBUG and User.objects.exists():
            raise CommandError("This database has people in it, and DEBUG is off. The demo is for empty databases.")
        shipped.install()
        password = make_password(PASSWORD)  # hashed once: eight times would take seconds
        for person in PEOPLE:
            _add(person, password)
        self.stdout.write(f"Demo organisation: {len(PEOPLE)} people, password {PASSWORD}.")


def _add(person: DemoPerson, password: str) -> None:
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
            "department_name": person.department,
        },
    )
