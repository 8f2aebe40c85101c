"""Texts of libraries whose Chinese is missing or not in our voice: named here, they are translated with ours."""

from django.utils.translation import gettext_noop as _
from django.utils.translation import ngettext_lazy

SKIN = (
    _("After you've created a user, you’ll be able to edit more user options."),
    _("Apply Filters"),
    _("Choose file to upload"),
    _("Dark"),
    _("General"),
    _("Go back"),
    _("Light"),
    _("Loading more results..."),
    _("More actions"),
    _("No results found"),
    _("No results matching your query"),
    _("Reset filters"),
    _("Run"),
    _("Search apps and models..."),
    _("Select action"),
    _("Select action to run"),
    _("Select all rows"),
    _("Select record"),
    _("Select value"),
    _("System"),
    _("This page yielded into no results. Create a new item or reset your filters."),
    _("Toggle password visibility"),
    _("Type to search"),
)
"""Of the admin's skin (django-unfold)."""

LOCK_OUT = (
    _("Attempt Time"),
    _("Failed Logins"),
    _("IP Address"),
    _("access attempt"),
    _("access attempts"),
)
"""Of the login's lock-out (django-axes)."""

PASSWORDS = (
    _("Your password can’t be a commonly used password."),
    _("Your password can’t be entirely numeric."),
    ngettext_lazy(
        "Your password must contain at least %(min_length)d character.",
        "Your password must contain at least %(min_length)d characters.",
        "min_length",
    ),
)
"""Of Django's password rules."""
