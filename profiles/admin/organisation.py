"""The organisation in the admin: departments, and the directory with its import.

Managers, who are staff of the group Managers, see themselves and those below them here; each list comes from the policy
that the API and the pages ask too, and whoever is shown is noted in the access log.
"""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminFileFieldWidget

from profiles import directory
from profiles.admin.member import look_at_member
from profiles.admin.read_only import ReadOnlyAdmin
from profiles.models import Department, Sight, UserProfile
from profiles.permissions import Act, policy
from profiles.task_page import name_of

ID_DIGITS = 10
"""Fewer than these are in the id of an account."""


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
    list_filter = (("department", admin.RelatedOnlyFieldListFilter),)
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

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        """Of somebody below: how their work goes. Of everybody else whom one may see: where they stand."""
        subject = User(pk=int(object_id)) if object_id.isdecimal() and len(object_id) < ID_DIGITS else User()
        is_look = request.method in ("GET", "HEAD") and self.has_view_permission(request)
        if not is_look or not policy.allows(request.user, Act.EVALUATE, subject):
            return super().change_view(request, object_id, *args, **kwargs)
        shown = look_at_member(request.user, subject.pk, request.GET)
        context = self.admin_site.each_context(request) | {"opts": self.opts, "title": str(shown["original"])}
        return TemplateResponse(request, "admin/member.html", context | shown)

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
