"""How the admin looks: the options of django-unfold. Its colours are in static/css/admin.css."""

from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static
from django.utils.translation import gettext_lazy as _


def _symbol(request: HttpRequest) -> str:
    return static("img/tacit.svg")


def _stylesheet(request: HttpRequest) -> str:
    return static("css/admin.css")


def _theme(request: HttpRequest) -> str:
    return static("js/admin_theme.js")


OPTIONS: dict[str, Any] = {
    "SITE_TITLE": "默契 Tacit",
    "SITE_HEADER": "默契 Tacit",
    "SITE_SUBHEADER": _("Administration"),
    "SITE_URL": "/",
    "SITE_ICON": _symbol,
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": _symbol}],
    "STYLES": [_stylesheet],
    "SCRIPTS": [_theme],
    "SHOW_LANGUAGES": True,
    "SHOW_VIEW_ON_SITE": False,
    "SIDEBAR": {"navigation": "config.admin_menu.menu"},
}
