"""How the admin looks: the options of django-unfold. Its colours are in static/css/admin.css, on top of tokens.css."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.utils.translation import gettext_lazy as _


def _file(path: str) -> Callable[[HttpRequest], str]:
    """The address of a static file, found when a page needs it: the settings are read before the files are known."""
    return lambda request: static(path)


OPTIONS: dict[str, Any] = {
    "SITE_TITLE": "默契 Tacit",
    "SITE_HEADER": "默契 Tacit",
    "SITE_SUBHEADER": _("Administration"),
    "SITE_URL": "/",
    "SITE_ICON": _file("img/tacit.svg"),
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": _file("img/tacit.svg")}],
    "STYLES": [_file(f"css/{name}.css") for name in ("tokens", "admin", "admin_pages", "admin_team")],
    "SCRIPTS": [_file("js/admin_theme.js"), _file("js/admin_access.js")],
    "SHOW_LANGUAGES": True,
    "SHOW_VIEW_ON_SITE": False,
    "SIDEBAR": {"navigation": "config.admin_menu.menu"},
}
