"""Flows in the admin: how the catalogue shows them, in both languages, and who may use them."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _
from unfold.admin import TabularInline

from flows.catalogue_form import FlowForm
from flows.models import Flow, FlowVersion
from profiles.tick_boxes import TickBoxAdmin


class VersionInline(TabularInline):
    """What was published, newest first. Versions never change: sessions stay with the one that they began with."""

    model = FlowVersion
    fields = readonly_fields = ("version", "published", "steps")
    verbose_name_plural = _("versions")
    can_delete = False
    hide_title = True

    @admin.display(description=_("version"))
    def version(self, version: FlowVersion) -> int:
        return version.number

    @admin.display(description=_("published"))
    def published(self, version: FlowVersion) -> str:
        return date_format(localtime(version.published_at), "DATETIME_FORMAT")

    @admin.display(description=_("steps"))
    def steps(self, version: FlowVersion) -> str:
        nodes = version.definition.get("nodes", ())
        return " · ".join(node.get("title") or node.get("type", "") for node in nodes)

    def has_add_permission(self, request: HttpRequest, obj: Flow | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: FlowVersion | None = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: FlowVersion | None = None) -> bool:
        """Whoever may see the flow may see its versions."""
        return True


@admin.register(Flow)
class FlowAdmin(TickBoxAdmin):
    """The card in the catalogue. A flow that is no longer wanted is archived: its sessions stay readable."""

    grants = ("view", "change")
    form = FlowForm
    inlines = (VersionInline,)
    list_display = ("name", "category", "allowed", "current_version", "is_archived")
    list_filter = ("category", "is_archived", "groups")
    search_fields = ("name", "slug")
    readonly_fields = ("identifier",)
    fieldsets = (
        (_("Catalogue"), {"fields": ("identifier", "icon", "category", "groups", "is_archived")}),
        (_("Texts in Chinese"), {"fields": ("name", "description", "starters")}),
        (
            _("Texts in English"),
            {
                "fields": ("name_en", "description_en", "starters_en"),
                "description": _("What is empty here is shown in Chinese."),
            },
        ),
    )

    @admin.display(description=_("name for programs"))
    def identifier(self, flow: Flow) -> str:
        return flow.slug

    @admin.display(description=_("version"), ordering="published_version")
    def current_version(self, flow: Flow) -> int | None:
        return flow.published_version

    @admin.display(description=_("allowed groups"))
    def allowed(self, flow: Flow) -> str:
        return ", ".join(group.name for group in flow.groups.all()) or str(_("everybody"))

    def get_queryset(self, request: HttpRequest) -> QuerySet[Flow]:
        flows: QuerySet[Flow] = super().get_queryset(request)
        return flows.prefetch_related("groups")

    def get_fieldsets(self, request: HttpRequest, obj: Flow | None = None) -> Any:
        """Without the English texts for who may only look: they are fields of the form, which is not there then."""
        return self.fieldsets if self.has_change_permission(request, obj) else self.fieldsets[:2]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Flow | None = None) -> bool:
        return False
