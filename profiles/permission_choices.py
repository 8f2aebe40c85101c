"""The permissions that can be given to people: those that a page of the admin honours, in the reader's words."""

from typing import Any

from django import forms
from django.contrib.admin import AdminSite
from django.contrib.auth.models import Permission
from django.db.models import Q, QuerySet
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

ACTIONS = {"view": _("view"), "add": _("add"), "change": _("change"), "delete": _("delete")}


def grantable(site: AdminSite) -> QuerySet[Permission]:
    """The permissions that the admin classes of `site` list in their `grants`, such as `("view", "change")`."""
    wanted = Q(pk__in=[])
    for model, model_admin in site._registry.items():
        options = model._meta
        codes = [f"{action}_{options.model_name}" for action in getattr(model_admin, "grants", ())]
        wanted |= Q(content_type__app_label=options.app_label, codename__in=codes)
    ordered = Permission.objects.filter(wanted).select_related("content_type")
    return ordered.order_by("content_type__app_label", "content_type__model", "codename")


class PermissionsField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]  # generic in the stubs only
    """Names a permission by the table's and the action's own words; Django stores an English sentence."""

    def label_from_instance(self, obj: Any) -> str:
        action = obj.codename.partition("_")[0]
        return f"{capfirst(obj.content_type.name)}: {ACTIONS.get(action, action)}"
