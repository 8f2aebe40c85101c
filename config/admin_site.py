"""The admin's own pages: the overview, the first run; and the product's one login in front of them."""

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from django.contrib.admin import ModelAdmin
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext_lazy as _
from unfold.sites import UnfoldAdminSite


class TacitAdminSite(UnfoldAdminSite):
    """Django's admin in the product's clothes."""

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Sends people to the product's login, which locks out guessers, and back here afterwards.

        Whoever is logged in without the right to be here is refused: the login page would only send them back.
        """
        if not request.user.is_authenticated:
            return redirect_to_login(request.GET.get(REDIRECT_FIELD_NAME) or reverse("admin:index"))
        if not self.has_permission(request):
            raise PermissionDenied
        return redirect("admin:index")

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Their team for managers, the overview for superusers, both for whoever is both; else a word of welcome."""
        from config import overview  # needs models, which the site is made before
        from profiles.admin.team import look_at_team

        team = look_at_team(request.user) if request.user.has_perm("profiles.view_userprofile") else None
        if request.user.is_superuser:
            context = overview.of(request) | {"team": team if team and team.members else None}
        else:
            context = {"title": _("My team"), "team": team} if team else {}
        response: HttpResponse = super().index(request, {**(extra_context or {}), **context})
        return response

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Callable[..., Any]:
        """Closes a table as a whole to those who may not open it, before an answer tells which of its rows exist."""
        inner: Callable[..., Any] = super().admin_view(view, cacheable)
        table = getattr(view, "__self__", None)
        if not isinstance(table, ModelAdmin):
            return inner

        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
            may_enter = table.has_view_or_change_permission(request) or table.has_add_permission(request)
            if self.has_permission(request) and not may_enter:
                raise PermissionDenied
            return inner(request, *args, **kwargs)

        return update_wrapper(guarded, inner)

    def app_index(
        self, request: HttpRequest, app_label: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The sidebar lists what there is; a page for each Django application would only repeat it."""
        return redirect("admin:index")

    def extra_urls(self) -> list[URLPattern]:
        """The pages that belong to no table."""
        from config.first_run import first_run  # needs models, which the site is made before

        return [path("first-run/", self.admin_view(first_run), name="first_run")]

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """The skin's context, without the colours: as a stylesheet they need no inline style."""
        context: dict[str, Any] = super().each_context(request)
        return context | {"colors": None}
