"""The page that sets up the first model: an address and a key, a test, done."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from unfold.widgets import UnfoldAdminTextInputWidget

from config.overview import answering_model
from llm.admin import ProviderProfileForm, outcome_of
from llm.models import ProviderProfile

ADDRESSES = {
    "OpenAI": "https://api.openai.com/v1",
    "DeepSeek": "https://api.deepseek.com/v1",
    "Qwen · DashScope": "https://dashscope.aliyuncs.com/compatible-mode/v1",
    "Ollama": "http://localhost:11434/v1",
}
"""What the address box offers; any other OpenAI-compatible address does as well."""
PLACEHOLDERS = {"base_url": "https://api.example.com/v1", "model": "deepseek-chat"}


class FirstRunForm(ProviderProfileForm):
    """The three things that a model needs. The rest of a profile keeps its defaults."""

    field_order = ("base_url", "api_key", "model")
    forget_api_key = None  # type: ignore[assignment]  # takes the parent's field away

    class Meta:
        model = ProviderProfile
        fields = ("base_url", "model")
        widgets = {
            name: UnfoldAdminTextInputWidget({"placeholder": text, "autocomplete": "off", "spellcheck": "false"})
            for name, text in PLACEHOLDERS.items()
        }

    def __init__(self, data: QueryDict | None = None) -> None:
        super().__init__(data, instance=_profile_like(data) if data else None)
        self.fields["base_url"].initial = ""
        self.fields["base_url"].widget.attrs["list"] = "known-addresses"
        self.fields["api_key"].help_text = _("Stored encrypted and never shown again. A local server may need none.")

    def untested(self) -> ProviderProfile:
        """The profile that the form describes, not saved."""
        return super().save(commit=False)

    def save_for_everybody(self) -> ProviderProfile:
        """Stores the profile as the one default."""
        profile = self.untested()
        profile.name = profile.name or _free_name(profile.model)
        profile.enabled = profile.is_default = True
        with transaction.atomic():
            ProviderProfile.objects.filter(is_default=True).exclude(pk=profile.pk).update(is_default=False)
            profile.save()
        return profile


def first_run(request: HttpRequest) -> HttpResponse:
    """Shows the form; `do=test` asks the model, `do=save` does and then stores it, `do=save_untested` only stores."""
    if not request.user.is_superuser:
        raise PermissionDenied
    form, outcome = FirstRunForm(request.POST or None), None
    if form.is_valid():
        wish = request.POST.get("do")
        outcome = outcome_of(form.untested()) if wish != "save_untested" else None
        if wish == "save_untested" or (wish == "save" and outcome and outcome.ok):
            name = form.save_for_everybody().model
            messages.success(request, _("%(model)s answers for everybody from now on.") % {"model": name})
            return _to_overview(request)
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": _("Set up a model"),
        "form": form,
        "outcome": outcome,
        "addresses": ADDRESSES,
        "model": answering_model(),
    }
    return TemplateResponse(request, "admin/first_run.html", context)


def _profile_like(data: QueryDict) -> ProviderProfile | None:
    """The stored profile of the same model at the same address, which is then changed instead of doubled."""
    same = ProviderProfile.objects.filter(base_url=data.get("base_url", ""), model=data.get("model", ""))
    return same.first()


def _free_name(model: str) -> str:
    taken = set(ProviderProfile.objects.values_list("name", flat=True))
    names = [model[:70], *(f"{model[:70]} ({number})" for number in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken)


def _to_overview(request: HttpRequest) -> HttpResponse:
    """A redirect that htmx follows with the whole page, and a browser as ever."""
    if request.headers.get("HX-Request"):
        return HttpResponse(headers={"HX-Redirect": reverse("admin:index")})
    return redirect("admin:index")
