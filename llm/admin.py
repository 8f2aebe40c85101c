"""Model profiles in the admin: for superusers only, with a key that can be set but never read."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import JSONField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminTextareaWidget, UnfoldBooleanSwitchWidget

from llm.errors import ModelMisconfigured
from llm.models import ProviderProfile
from llm.trial import QUESTION, Outcome, try_out


class ProviderProfileForm(forms.ModelForm):  # type: ignore[type-arg]  # generic in the stubs only
    """Adds the key as a field that only takes."""

    api_key = forms.CharField(
        label=_("API key"),
        required=False,
        max_length=1000,
        widget=UnfoldAdminPasswordWidget(render_value=False, attrs={"autocomplete": "new-password"}),
        help_text=_("Stored encrypted and never shown again. Leave it empty to keep the stored key."),
    )
    forget_api_key = forms.BooleanField(
        label=_("Forget the stored key"), required=False, widget=UnfoldBooleanSwitchWidget
    )

    class Meta:
        model = ProviderProfile
        fields = (
            "name",
            "base_url",
            "model",
            "is_default",
            "enabled",
            "context_tokens",
            "max_output_tokens",
            "fallback",
            "output_limit_field",
            "thinking_key",
            "reasoning_replay",
            "extra_body",
        )

    def clean_api_key(self) -> str:
        api_key: str = self.cleaned_data["api_key"].strip()
        if not api_key.isascii() or not api_key.isprintable():
            raise ValidationError(_("A key has plain letters, digits and marks only. Copy it again."), code="bad_key")
        return api_key

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        keeps_key = self.instance.has_api_key and not cleaned.get("api_key") and not cleaned.get("forget_api_key")
        if keeps_key and "base_url" in self.changed_data:
            # Otherwise whoever may edit a profile could have its key sent to a server of their own.
            self.add_error("api_key", _("The address has changed: enter the key again."))
        return cleaned

    def save(self, commit: bool = True) -> ProviderProfile:
        if self.cleaned_data["api_key"] or self.cleaned_data.get("forget_api_key"):
            self.instance.set_api_key(self.cleaned_data["api_key"])
        profile: ProviderProfile = super().save(commit=commit)
        return profile


@admin.register(ProviderProfile)
class ProviderProfileAdmin(ModelAdmin):
    form = ProviderProfileForm
    list_display = ("name", "model", "base_url", "key_is_stored", "is_default", "enabled")
    search_fields = ("name", "model", "base_url")
    formfield_overrides = {JSONField: {"widget": UnfoldAdminTextareaWidget({"rows": 3})}}
    fieldsets = (
        (
            None,
            {"fields": ("name", "base_url", "api_key", "forget_api_key", "model", "is_default", "enabled")},
        ),
        (_("Limits"), {"fields": ("context_tokens", "max_output_tokens", "fallback")}),
        (
            _("Peculiarities"),
            {"fields": ("output_limit_field", "thinking_key", "reasoning_replay", "extra_body")},
        ),
    )

    @admin.display(description=_("key"), boolean=True)
    def key_is_stored(self, profile: ProviderProfile) -> bool:
        return profile.has_api_key

    def get_urls(self) -> list[URLPattern]:
        test = path("<int:pk>/test/", self.admin_site.admin_view(self.test_view), name="llm_providerprofile_test")
        return [test, *super().get_urls()]

    def test_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Shows what a test does, and on POST does it and shows how it went."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        row = get_object_or_404(ProviderProfile.objects.select_related("fallback"), pk=pk)
        context = {
            **self.admin_site.each_context(request),
            "title": _("Test"),
            "opts": self.opts,
            "profile": row,
            "question": QUESTION,
            "outcome": outcome_of(row) if request.method == "POST" else None,
        }
        return TemplateResponse(request, "admin/llm/providerprofile/test.html", context)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return _is_superuser(request)

    def has_view_permission(self, request: HttpRequest, obj: ProviderProfile | None = None) -> bool:
        return _is_superuser(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return _is_superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: ProviderProfile | None = None) -> bool:
        return _is_superuser(request)

    def has_delete_permission(self, request: HttpRequest, obj: ProviderProfile | None = None) -> bool:
        return _is_superuser(request)


def outcome_of(row: ProviderProfile) -> Outcome:
    """How a question to the model of this profile went."""
    try:
        return try_out(row.as_profile({}))
    except ModelMisconfigured as error:
        return Outcome(ok=False, text=error.detail, ms=0)


def _is_superuser(request: HttpRequest) -> bool:
    return request.user.is_active and request.user.is_superuser
