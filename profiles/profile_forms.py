"""The forms of the profile page."""

import re
import zoneinfo
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from llm.text import safe
from profiles.models import TagKind, TagStatus
from profiles.own_profile import models_to_choose
from profiles.tags import Decision

MOST_ALIASES = 20
ACTIONS: dict[str, tuple[str | None, bool | None]] = {
    "accept": (TagStatus.CONFIRMED, True),
    "accept_alone": (TagStatus.CONFIRMED, False),
    "reject": (TagStatus.REJECTED, None),
    "share": (None, True),
    "withhold": (None, False),
}
"""What the buttons beside a tag mean: another status, shared or not."""


class PreferencesForm(forms.Form):
    """How one is called and spoken to: the same as PATCH /api/memory/profile takes."""

    display_name = forms.CharField(max_length=80)
    aliases = forms.CharField(max_length=800, required=False)
    time_zone = forms.ChoiceField(choices=())
    preferred_llm_model = forms.ChoiceField(choices=(), required=False)
    preferred_language = forms.ChoiceField(choices=(), required=False)
    communication_tone = forms.CharField(max_length=40, required=False)

    def __init__(self, data: Any = None, **options: Any) -> None:
        super().__init__(data, **options)
        choices = {
            "time_zone": [(zone, zone) for zone in sorted(zoneinfo.available_timezones())],
            "preferred_llm_model": [("", _("the organisation's"))] + [(name, name) for name in models_to_choose()],
            "preferred_language": [("", _("the one I write in")), *settings.LANGUAGES],
        }
        for name, offered in choices.items():
            field: Any = self.fields[name]
            field.choices = offered

    def clean_display_name(self) -> str:
        return _line(self.cleaned_data["display_name"])

    def clean_communication_tone(self) -> str:
        return _line(self.cleaned_data["communication_tone"])

    def clean_aliases(self) -> list[str]:
        """Separated by commas, each once."""
        names = dict.fromkeys(filter(None, map(_line, re.split(r"[,，、]", self.cleaned_data["aliases"]))))
        if len(names) > MOST_ALIASES or any(len(name) > 40 for name in names):
            raise ValidationError(_("Up to 20 nicknames of at most 40 letters, separated by commas."))
        return list(names)


class TagForm(forms.Form):
    """A button beside a tag, or other words for it."""

    kind = forms.ChoiceField(choices=TagKind.choices)
    value = forms.CharField(max_length=40)
    action = forms.ChoiceField(choices=[(name, name) for name in ACTIONS], required=False)
    words = forms.CharField(max_length=40, required=False)

    def clean(self) -> dict[str, Any]:
        said: dict[str, Any] = super().clean() or {}
        said["words"] = _line(said.get("words", ""))
        if not (said.get("action") or said["words"]):
            raise ValidationError(_("Say what is to become of it."))
        return said

    def decision(self) -> Decision:
        said = self.cleaned_data
        status, shared = ACTIONS.get(said["action"], (None, None))
        return Decision(TagKind(said["kind"]), said["value"], status, shared)


def _line(text: str) -> str:
    return " ".join(safe(text).split())
