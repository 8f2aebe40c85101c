"""Tables of the libraries in the admin: failed logins, to lift a lock-out. API tokens have no page."""

from axes.helpers import get_cool_off
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib import admin, messages
from django.db.models import F, QuerySet, Sum, Window
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from knox.models import AuthToken
from unfold.admin import ModelAdmin

admin.site.unregister(AuthToken)


@admin.register(AccessAttempt)
class FailedLoginAdmin(ModelAdmin):
    """The failed logins that still count, and which of them lock somebody out. For superusers."""

    list_display = ("username", "ip_address", "failures_since_start", "is_locked", "attempt_time")
    list_display_links = None
    search_fields = ("username",)
    search_help_text = _("Search by user name")
    fields = readonly_fields = ("username", "ip_address", "failures_since_start", "is_locked", "attempt_time")
    actions = ("unlock",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[AccessAttempt]:
        """With the failures of one name from one address added up: each browser has a row of its own."""
        since = timezone.now() - get_cool_off(request)
        together = Window(Sum("failures_since_start"), partition_by=[F("username"), F("ip_address")])
        attempts: QuerySet[AccessAttempt] = AccessAttempt.objects.filter(attempt_time__gte=since)
        attempts = attempts.annotate(failures=together).order_by("-attempt_time")
        return attempts

    @admin.display(description=_("locked out"), boolean=True)
    def is_locked(self, attempt: AccessAttempt) -> bool:
        return bool(attempt.failures >= settings.AXES_FAILURE_LIMIT)

    @admin.action(description=_("Unlock"))
    def unlock(self, request: HttpRequest, attempts: QuerySet[AccessAttempt]) -> None:
        """Forgets the failures, so that the names may be tried again at once."""
        chosen = list(attempts)
        for attempt in chosen:
            AccessAttempt.objects.filter(username=attempt.username, ip_address=attempt.ip_address).delete()
        done = ngettext("%(count)d login may be tried again.", "%(count)d logins may be tried again.", len(chosen))
        messages.success(request, done % {"count": len(chosen)})

    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def has_view_permission(self, request: HttpRequest, obj: AccessAttempt | None = None) -> bool:
        return request.user.is_superuser

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: AccessAttempt | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: AccessAttempt | None = None) -> bool:
        return False
