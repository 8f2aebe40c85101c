"""People as the platform knows them."""

import zoneinfo
from typing import Any, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.utils.translation import gettext_lazy as _

from memory.person import Person
from profiles.models.departments import Department
from profiles.models.lines import is_cycle, lock_lines
from profiles.models.membership import refresh_membership
from profiles.permissions import Act, policy


def validate_time_zone(name: str) -> None:
    """Refuses a name that is no IANA time zone."""
    if name not in zoneinfo.available_timezones():
        raise ValidationError(_("Not a time zone. Use a name such as Asia/Shanghai."))


class UserProfileQuerySet(models.QuerySet["UserProfile"]):
    def visible_to(self, user: Person) -> Self:
        """Oneself and everybody below oneself in the reporting line."""
        return policy.rows(self, user, Act.SEE, key="user_id")

    def assignable_by(self, user: Person) -> Self:
        """Those whom `user` may give work to."""
        return policy.rows(self, user, Act.ASSIGN, key="user_id")


class UserProfile(models.Model):
    """One per user: how they are called, where they stand, and how the product speaks to them."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="profile"
    )
    display_name = models.CharField(_("name"), max_length=80)
    position = models.CharField(_("position"), max_length=80, blank=True, default="")
    department = models.ForeignKey(
        Department,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="people",
        verbose_name=_("department"),
    )
    manager = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="direct_reports",
        verbose_name=_("manager"),
        help_text=_("Sees the work of this person, and of everybody below them."),
    )
    aliases = ArrayField(
        models.CharField(max_length=40),
        blank=True,
        default=list,
        verbose_name=_("also called"),
        help_text=_("Nicknames under which others give work to this person, separated by commas."),
    )
    time_zone = models.CharField(
        _("time zone"), max_length=64, default="Asia/Shanghai", validators=[validate_time_zone]
    )
    preferred_language = models.CharField(
        _("language"),
        max_length=10,
        choices=settings.LANGUAGES,
        blank=True,
        default="",
        help_text=_("Left empty, it follows the browser."),
    )
    role_tags = ArrayField(
        models.CharField(max_length=40),
        blank=True,
        default=list,
        verbose_name=_("roles"),
        help_text=_("What this person is responsible for, separated by commas."),
    )
    preferred_llm_model = models.CharField(_("model"), max_length=80, blank=True, default="")
    communication_tone = models.CharField(_("tone"), max_length=40, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = UserProfileQuerySet.as_manager()

    class Meta:
        verbose_name = _("profile")
        verbose_name_plural = _("profiles")

    def __str__(self) -> str:
        return self.display_name

    @transaction.atomic
    def save(self, *args: Any, **kwargs: Any) -> None:
        """Keeps the groups of departments in step. Raises IntegrityError for a circle that slipped through."""
        lock_lines()
        super().save(*args, **kwargs)
        refresh_membership(self.pk)

    @property
    def department_name(self) -> str:
        """The department's name; empty without one."""
        return self.department.name if self.department else ""

    def clean(self) -> None:
        """Refuses a manager who stands below the person, or is the person."""
        if self.pk and is_cycle(UserProfile, self.pk, up="manager_id", to=self.manager_id):
            raise ValidationError({"manager": _("This person already stands below the one you are editing.")})


def zone_of(user: Person) -> zoneinfo.ZoneInfo:
    """The time zone that a person's days are told in; the product's own where they have no profile."""
    name = UserProfile.objects.filter(user_id=user.pk).values_list("time_zone", flat=True).first()
    return zoneinfo.ZoneInfo(name or "Asia/Shanghai")
