"""The admin's sidebar: what the person may open, under the product's own words."""

from typing import Any

from axes.models import AccessAttempt
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from flows.models import Flow
from llm.models import ProviderProfile
from memory.models import Conversation, DeadLetter
from profiles.models import Department, EvaluationReport, UserProfile, WorkTask

ICONS: tuple[dict[type[Model], str], ...] = (
    {UserProfile: "badge", Department: "lan", User: "person", Group: "group"},
    {
        **{WorkTask: "task_alt", EvaluationReport: "lab_profile", Flow: "account_tree"},
        **{Conversation: "forum", DeadLetter: "mark_email_unread"},
    },
    {ProviderProfile: "neurology"},
    {AccessAttempt: "lock"},
)
"""The sections, each with its tables and their Material symbols."""


def menu(request: HttpRequest) -> list[dict[str, Any]]:
    """The sections in which the person may open at least one table, below the overview."""
    titles = (_("People"), _("Work"), _("Models"), _("Security"))
    home = {"title": _("Overview"), "icon": "home", "link": reverse("admin:index")}
    sections = [
        {"title": title, "items": [_item(model, icon) for model, icon in tables.items() if _may_open(request, model)]}
        for title, tables in zip(titles, ICONS, strict=True)
    ]
    return [{"items": [home]}, *(section for section in sections if section["items"])]


def _item(model: type[Model], icon: str) -> dict[str, Any]:
    options = model._meta
    address = reverse(f"admin:{options.app_label}_{options.model_name}_changelist")
    return {"title": capfirst(options.verbose_name_plural), "icon": icon, "link": address}


def _may_open(request: HttpRequest, model: type[Model]) -> bool:
    return admin.site.get_model_admin(model).has_view_or_change_permission(request)
