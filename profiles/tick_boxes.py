"""Admin pages whose many-to-many choices are boxes to tick; permissions among them in the reader's words."""

from typing import Any

from django import forms
from django.contrib.admin import AdminSite
from django.contrib.auth.models import Permission
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

ACTIONS = {
    "view": gettext_lazy("view"),
    "add": gettext_lazy("add"),
    "change": gettext_lazy("change"),
    "delete": gettext_lazy("delete"),
}


class TickBoxAdmin(ModelAdmin):
    """Boxes work on a phone and with the keyboard, where two lists with arrows between them do not.

    `grants` names the permissions that the page honours, such as `("view", "change")`: only those are offered.
    """

    grants: tuple[str, ...] = ()

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field and db_field.many_to_many:
            field.widget = field.widget.widget  # without buttons to add a group in a window of its own
        return field

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        kwargs["widget"] = UnfoldAdminCheckboxSelectMultipleWidget
        if db_field.related_model is Permission:
            kwargs |= {"queryset": grantable(self.admin_site), "form_class": PermissionsField}
        return super().formfield_for_manytomany(db_field, request, **kwargs)


class PermissionsField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]  # generic in the stubs only
    """Names a permission by the table's and the action's own words; Django stores an English sentence."""

    def label_from_instance(self, obj: Any) -> str:
        action = obj.codename.partition("_")[0]
        parts = {"table": capfirst(obj.content_type.name), "action": ACTIONS.get(action, action)}
        return _("%(table)s: %(action)s") % parts


def grantable(site: AdminSite) -> QuerySet[Permission]:
    """The permissions that the pages of `site` honour."""
    wanted = Q(pk__in=[])
    for model, model_admin in site._registry.items():
        options = model._meta
        codes = [f"{action}_{options.model_name}" for action in getattr(model_admin, "grants", ())]
        wanted |= Q(content_type__app_label=options.app_label, codename__in=codes)
    ordered = Permission.objects.filter(wanted).select_related("content_type")
    return ordered.order_by("content_type__app_label", "content_type__model", "codename")
