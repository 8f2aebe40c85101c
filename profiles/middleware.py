"""Each person's own time zone, on every page."""

import zoneinfo
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from profiles.models import UserProfile


class PreferencesMiddleware:
    """Shows times in the zone of the person who is logged in; strangers see the installation's."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        profile = profile_of(request) if not request.path.startswith(("/api/", "/v1/", "/static/")) else None
        if profile is None:
            return self.get_response(request)
        with timezone.override(zoneinfo.ZoneInfo(profile.time_zone)):
            return self.get_response(request)


def profile_of(request: HttpRequest) -> UserProfile | None:
    """The profile of the person who is logged in, if there is one."""
    if not request.user.is_authenticated:
        return None
    return UserProfile.objects.filter(pk=request.user.pk).first()
