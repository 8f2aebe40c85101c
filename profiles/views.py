"""Pages about oneself."""

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.views.i18n import set_language as set_in_browser

from profiles.models import UserProfile


def set_language(request: HttpRequest) -> HttpResponseBase:
    """Chooses the language in this browser, and for a person who is logged in everywhere."""
    response = set_in_browser(request)
    chosen = request.POST.get("language", "")
    if request.user.is_authenticated and chosen in dict(settings.LANGUAGES):
        UserProfile.objects.filter(pk=request.user.pk).update(preferred_language=chosen)
    return response
