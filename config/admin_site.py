"""The admin's own pages: the overview, the first run; and the product's one login in front of them."""

from typing import Any

from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, reverse
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
        """The overview for superusers, their team for managers, a word of welcome for other staff."""
        from config import overview  # needs models, which the site is made before

        if not request.user.is_superuser and request.user.has_perm("profiles.view_userprofile"):
            return redirect("admin:profiles_userprofile_changelist")
        context = overview.of(request) if request.user.is_superuser else {}
        response: HttpResponse = super().index(request, {**(extra_context or {}), **context})
        return response

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
