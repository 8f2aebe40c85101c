"""Prepares a database for a bench: migrations, the shipped flows, and people with API keys.

python -m bench.people 20      # prints the id of the first flow, then a key for each person
"""

import os
import sys
from datetime import timedelta

import django
from django.core.management import call_command


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    call_command("migrate", verbosity=0)
    from django.contrib.auth.models import User  # models load once Django is set up
    from knox.models import AuthToken

    from flows import shipped
    from flows.models import Flow

    shipped.install()
    people = [User.objects.get_or_create(username=f"bench{number}")[0] for number in range(int(sys.argv[1]))]
    keys = [AuthToken.objects.create(user=user, expiry=timedelta(hours=2))[1] for user in people]
    sys.stdout.write(" ".join([str(Flow.objects.earliest("pk").pk), *keys]))


if __name__ == "__main__":
    main()
