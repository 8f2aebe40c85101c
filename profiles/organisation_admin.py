"""The organisation in the admin: departments, the directory with its import, and tasks.

Managers, who are staff of the group Managers, see themselves and their reports here; each list comes from the policy
that the API and the pages ask too, and whoever is shown is noted in the access log.
"""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin, TabularInline
from unfold.widgets import UnfoldAdminFileFieldWidget

from profiles import directory
from profiles.models import Department, Look, Sight, UserProfile, WorkEvent, WorkTask
from profiles.permissions import policy
from profiles.task_page import event_sentence, name_of


class ReadOnlyAdmin(ModelAdmin):
    """Pages to look at. Whoever is shown on them has been looked at."""

    grants = ("view",)
    sight: Sight
    person: str
    """The field that tells whose a row is."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return policy.rows_in_admin(super().get_queryset(request), request.user, key=self.person)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """The filters' own lookups alone."""
        return lookup.partition("__")[0] in self.list_filter

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        response = super().changelist_view(request, extra_context)
        changes = getattr(response, "context_data", {}).get("cl")
        if changes is not None:
            self._note(request, changes.result_list, Sight.LIST if self.sight == Sight.PROFILE else self.sight)
        return response

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        response = super().change_view(request, object_id, *args, **kwargs)
        row = getattr(response, "context_data", {}).get("original")
        self._note(request, [row] if row else [], self.sight)
        return response

    def _note(self, request: HttpRequest, rows: Any, sight: Sight) -> None:
        Look.objects.record(request.user, [getattr(row, self.person) for row in rows], sight=sight)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Department)
class DepartmentAdmin(ModelAdmin):
    """The tree. Its groups carry grants, so that it is in superusers' hands."""

    list_display = ("name", "parent", "headcount")
    list_select_related = ("parent",)
    search_fields = ("name",)
    fields = ("name", "parent")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Department]:
        departments: QuerySet[Department] = super().get_queryset(request)
        return departments.annotate(headcount=Count("people"))

    @admin.display(description=_("people"), ordering="headcount")
    def headcount(self, department: Any) -> int:
        return int(department.headcount)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_superuser

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_superuser

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Empty ones only. Their group stays, or what was granted to it would be open to everybody."""
        is_used = obj is not None and (obj.people.exists() or obj.parts.exists())
        return request.user.is_superuser and not is_used

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Without deleting many at once, which asks nobody whether they are empty."""
        actions: dict[str, Any] = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions


class ImportForm(forms.Form):
    """A CSV file, as text."""

    file = forms.FileField(
        required=False, widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".csv,text/csv,text/plain"})
    )
    text = forms.CharField(required=False, widget=forms.HiddenInput, strip=False)

    def clean(self) -> dict[str, Any]:
        """Leaves the file's text in `text`."""
        cleaned = super().clean() or {}
        file = cleaned.get("file")
        if file and file.size > directory.MOST_BYTES:
            raise forms.ValidationError(_("The file is larger than 1 MB. Import it in parts."))
        if file:
            try:
                cleaned["text"] = directory.decoded(file.read())
            except ValueError:
                raise forms.ValidationError(_("This file is not text. Save it as CSV, in UTF-8.")) from None
        if not cleaned.get("text"):
            raise forms.ValidationError(_("Choose a CSV file."))
        return cleaned


@admin.register(UserProfile)
class DirectoryAdmin(ReadOnlyAdmin):
    """Who stands where. It is changed in the accounts and by import."""

    sight, person = Sight.PROFILE, "pk"
    list_display = ("display_name", "account", "department", "position", "manager_name")
    list_filter = ("department",)
    list_select_related = ("user", "department", "manager__profile")
    search_fields = ("display_name", "user__username")
    search_help_text = _("Search by name")
    ordering = ("display_name",)
    fields = readonly_fields = ("display_name", "account", "department", "position", "manager_name", "also_called")
    list_before_template = "admin/_directory_import_link.html"

    @admin.display(description=_("user name"), ordering="user__username")
    def account(self, profile: UserProfile) -> str:
        return profile.user.get_username()

    @admin.display(description=_("manager"), ordering="manager__profile__display_name")
    def manager_name(self, profile: UserProfile) -> str | None:
        return name_of(profile.manager) if profile.manager else None

    @admin.display(description=_("also called"))
    def also_called(self, profile: UserProfile) -> str:
        return "、".join(profile.aliases)

    def get_urls(self) -> list[URLPattern]:
        own = path("import/", self.admin_site.admin_view(self.import_view), name="profiles_userprofile_import")
        return [own, *super().get_urls()]

    def import_view(self, request: HttpRequest) -> HttpResponse:
        """Shows what a file would change; the second step, with the same text, changes it."""
        if not request.user.is_superuser:
            raise PermissionDenied
        form = ImportForm(request.POST or None, request.FILES or None) if request.method == "POST" else ImportForm()
        plan = None
        if form.is_bound and form.is_valid():
            text = form.cleaned_data["text"]
            is_final = "apply" in request.POST
            plan = directory.apply(text) if is_final else directory.plan(text)
            if is_final and not plan.problems:
                counts = {"added": len(plan.added), "changed": len(plan.changed)}
                messages.success(request, _("Imported: %(added)d new, %(changed)d changed.") % counts)
                return redirect("admin:profiles_userprofile_changelist")
            form = ImportForm(initial={"text": text})
        context = {"title": _("Import the directory"), "form": form, "plan": plan, "columns": directory.COLUMNS}
        context |= {"back": reverse("admin:profiles_userprofile_changelist")}
        return render(request, "admin/directory_import.html", self.admin_site.each_context(request) | context)


class HistoryInline(TabularInline):
    """What happened to the task."""

    model = WorkEvent
    fields = readonly_fields = ("at", "what")
    verbose_name_plural = _("what happened")
    can_delete = False
    hide_title = True

    @admin.display(description=_("what"))
    def what(self, event: WorkEvent) -> str:
        return event_sentence(event)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever may see the task may see its history."""
        return True


@admin.register(WorkTask)
class TaskAdmin(ReadOnlyAdmin):
    """Work, to look at: it is given and moved on its page, by those whose it is."""

    sight, person = Sight.WORK, "assignee_id"
    inlines = (HistoryInline,)
    list_display = ("title", "assignee_name", "creator_name", "status", "due", "completed")
    list_filter = ("status", "due_at")
    list_select_related = ("assignee__profile", "creator__profile")
    search_fields = ("title", "assignee__profile__display_name")
    search_help_text = _("Search by title or name")
    fields = readonly_fields = ("title", "description", "assignee_name", "creator_name", "status", "due", "completed")

    @admin.display(description=_("for"), ordering="assignee__profile__display_name")
    def assignee_name(self, task: WorkTask) -> str:
        return name_of(task.assignee)

    @admin.display(description=_("given by"), ordering="creator__profile__display_name")
    def creator_name(self, task: WorkTask) -> str:
        return name_of(task.creator)

    @admin.display(description=_("due"), ordering="due_at")
    def due(self, task: WorkTask) -> str | None:
        return date_format(localtime(task.due_at), "DATETIME_FORMAT") if task.due_at else None

    @admin.display(description=_("finished"), ordering="completed_at")
    def completed(self, task: WorkTask) -> str | None:
        return date_format(localtime(task.completed_at), "DATETIME_FORMAT") if task.completed_at else None
