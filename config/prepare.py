"""Brings the database of `make run` up to date, in one process because a start of Django costs a second."""

import os

import django
from django.conf import settings
from django.core.management import call_command


def main() -> None:
    """Apply the migrations; with DEBUG on, fill in what is missing of the demo organisation."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    call_command("migrate", interactive=False)
    if settings.DEBUG:
        call_command("seed_demo")


if __name__ == "__main__":
    main()
