"""People and their groups in the admin. The organisation, its work and reports are in modules of their own."""

import zoneinfo
from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from unfold.admin import StackedInline
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from profiles.models import Look, Sight, UserProfile
from profiles.models.membership import refresh_membership
from profiles.task_page import name_of
from profiles.tick_boxes import TickBoxAdmin

POWERS = ("is_staff", "is_superuser", "groups", "user_permissions")
"""What decides who may do what: a superuser's to give, or whoever may edit users would own the house."""

admin.site.unregister(User)
admin.site.unregister(Group)


ORGANISATION = ("department", "manager")
"""Where a person stands: it decides who sees whom and who may use what, so that it is a superuser's to set."""


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]  # generic in the stubs only
    """Offers the time zones that there are."""

    class Meta:
        model = UserProfile
        fields = (
            *("display_name", "position", "department", "manager", "aliases", "role_tags", "time_zone"),
            "preferred_language",
        )
        labels = {"display_name": _("Full name")}
        widgets = {
            "aliases": UnfoldAdminTextInputWidget(),
            "role_tags": UnfoldAdminTextInputWidget(),
            "time_zone": UnfoldAdminSelectWidget(
                choices=[(zone, zone) for zone in sorted(zoneinfo.available_timezones())]
            ),
        }


class PersonField(forms.ModelChoiceField):  # type: ignore[type-arg]  # generic in the stubs only
    """Names accounts by the name of the person."""

    def label_from_instance(self, obj: Any) -> str:
        return f"{name_of(obj)} ({obj.get_username()})" if hasattr(obj, "profile") else str(obj)


class ProfileInline(StackedInline):
    """How the person is called and spoken to. Everybody has one."""

    model = UserProfile
    fk_name = "user"
    form = ProfileForm
    can_delete = False
    min_num = max_num = 1
    hide_title = True
    verbose_name_plural = _("profile")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return () if request.user.is_superuser else ORGANISATION

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Without buttons to add a department or a manager in a window of its own."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field and db_field.name in ORGANISATION:
            field.widget = field.widget.widget
        return field

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Managers by the names that people know them by."""
        if db_field.name == "manager":
            kwargs["queryset"] = User.objects.filter(is_active=True).select_related("profile").order_by("username")
            kwargs["form_class"] = PersonField
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


@admin.register(User)
class PersonAdmin(DjangoUserAdmin, TickBoxAdmin):  # type: ignore[type-arg]  # generic in the stubs only
    """Accounts. They are deactivated, not deleted: what a person said is that person's to erase."""

    grants = ("view", "add", "change")
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    inlines = (ProfileInline,)
    list_display = ("username", "display_name", "department", "position", "role", "is_active", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser", "groups")
    list_select_related = ("profile__department",)
    search_fields = ("username",)
    search_help_text = _("Search by user name")
    ordering = ("username",)
    filter_horizontal = ()
    readonly_fields = ("new_password", "last_login", "date_joined")
    fieldsets = (
        (None, {"fields": ("username", "new_password", "email", "is_active", "last_login", "date_joined")}),
        (_("Permissions"), {"fields": POWERS}),
    )
    add_fieldsets = ((None, {"fields": ("username", "password1", "password2")}),)

    @admin.display(description=_("Full name"), ordering="profile__display_name")
    def display_name(self, user: User) -> str | None:
        return _of_profile(user, "display_name")

    @admin.display(description=_("department"), ordering="profile__department__name")
    def department(self, user: User) -> str | None:
        return _of_profile(user, "department_name")

    @admin.display(description=_("position"), ordering="profile__position")
    def position(self, user: User) -> str | None:
        return _of_profile(user, "position")

    @admin.display(description=_("role"))
    def role(self, user: User) -> str | Promise | None:
        if user.is_superuser:
            return _("administrator")
        return _("staff of the admin") if user.is_staff else None

    @admin.display(description=_("password"))
    def new_password(self, user: User) -> str:
        return format_html('<a class="underline" href="../password/">{}</a>', _("Set a new password"))

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        own = tuple(super().get_readonly_fields(request, obj))
        return own if request.user.is_superuser else own + POWERS

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Without the groups of departments: membership of these follows the profile."""
        if db_field.name == "groups":
            kwargs["queryset"] = Group.objects.filter(department=None).order_by("name")
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Saving the boxes took the groups of departments away; the profile gives them back."""
        super().save_related(request, form, formsets, change)
        refresh_membership(form.instance.pk)

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        """An account with its profile: somebody was looked at."""
        response = super().change_view(request, object_id, *args, **kwargs)
        user = getattr(response, "context_data", {}).get("original")
        Look.objects.record(request.user, [user.pk] if user else [], sight=Sight.PROFILE)
        return response

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Superusers are changed by superusers alone: who may set a password may log in with it."""
        if isinstance(obj, User) and obj.is_superuser and not request.user.is_superuser:
            return False
        return super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Group)
class TeamAdmin(TickBoxAdmin):
    """Groups: which flows their members may use, and what they may do in the admin."""

    grants = ("view",)
    fields = ("name", "permissions")
    search_fields = ("name",)
    ordering = ("name",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.is_superuser

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.is_superuser


def _of_profile(user: User, field: str) -> str | None:
    profile: UserProfile | None = getattr(user, "profile", None)
    return getattr(profile, field, None) or None
