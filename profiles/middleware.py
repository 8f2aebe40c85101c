"""Each person's own time zone and language, on every page."""

import zoneinfo
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation

from profiles.models import UserProfile

PROGRAMS = ("/api/", "/v1/", "/static/")
"""Addresses whose times stay UTC and whose language is what the request asks for."""


class PreferencesMiddleware:
    """Shows times in the zone of the person who is logged in, and speaks the language that they chose.

    A choice in this browser goes before the one that the profile remembers from another.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        profile = profile_of(request) if _is_for_people(request.path) else None
        if profile is None:
            return self.get_response(request)
        if language := remembered_language(request, profile):
            translation.activate(language)
            request.LANGUAGE_CODE = translation.get_language() or ""
        with timezone.override(zoneinfo.ZoneInfo(profile.time_zone)):
            return self.get_response(request)


def profile_of(request: HttpRequest) -> UserProfile | None:
    """The profile of the person who is logged in, if there is one."""
    return getattr(request.user, "profile", None)


def remembered_language(request: HttpRequest, profile: UserProfile) -> str:
    """The language that the profile remembers, unless one was chosen in this browser; else the empty text."""
    return "" if settings.LANGUAGE_COOKIE_NAME in request.COOKIES else profile.preferred_language


def _is_for_people(path: str) -> bool:
    """Pages are, and so is a conversation that is exported to be read."""
    return not path.startswith(PROGRAMS) or path.endswith("/export")
