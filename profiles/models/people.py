"""People as the platform knows them."""

import zoneinfo

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _


def validate_time_zone(name: str) -> None:
    """Refuses a name that is no IANA time zone."""
    if name not in zoneinfo.available_timezones():
        raise ValidationError(_("Not a time zone. Use a name such as Asia/Shanghai."))


class UserProfile(models.Model):
    """One per user: how they are called, and how the product speaks to them."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="profile"
    )
    display_name = models.CharField(_("name"), max_length=80)
    position = models.CharField(_("position"), max_length=80, blank=True, default="")
    department_name = models.CharField(_("department"), max_length=80, blank=True, default="")
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
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("profile")
        verbose_name_plural = _("profiles")

    def __str__(self) -> str:
        return self.display_name
