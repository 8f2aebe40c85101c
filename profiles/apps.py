from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate

MANAGERS = "Managers"
"""The group whose staff see their reports in the admin."""
SEEN_BY_MANAGERS = ("view_userprofile", "view_worktask", "view_evaluationreport")


def _make_managers(using: str, **_: Any) -> None:
    """Makes the group with its permissions, which there are only after migrating. What it has more of stays."""
    from django.contrib.auth.models import Group, Permission  # needs settings

    group, _is_new = Group.objects.using(using).get_or_create(name=MANAGERS)
    wanted = Permission.objects.using(using).filter(content_type__app_label="profiles", codename__in=SEEN_BY_MANAGERS)
    group.permissions.add(*wanted)


class ProfilesAppConfig(AppConfig):
    name = "profiles"

    def ready(self) -> None:
        from memory.signals import exporting
        from profiles.export import held

        exporting.connect(held, weak=False, dispatch_uid="profiles.export")
        post_migrate.connect(_make_managers, sender=self, dispatch_uid="profiles.managers")
