"""The form for a flow's card in the catalogue, with its texts in both languages."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminRadioSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from flows.models import Flow

MOST_STARTERS = 6
LONGEST_STARTER = 200
ICONS = {
    "chat": _("Talk"),
    "report": _("Report"),
    "translate": _("Translation"),
    "book": _("Knowledge"),
    "task": _("Task"),
    "search": _("Search"),
    "people": _("People"),
    "chart": _("Chart"),
    "code": _("Code"),
    "mail": _("Mail"),
    "calendar": _("Calendar"),
    "spark": _("Idea"),
}
"""The symbols of static/img/icons.svg that a flow may have."""


class LinesField(forms.CharField):
    """A list of short texts, one a line. Blank lines are left out."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, widget=UnfoldAdminTextareaWidget({"rows": 4}), **options)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def to_python(self, value: Any) -> list[str]:  # type: ignore[override]  # a list instead of a text
        return [line.strip() for line in str(value or "").splitlines() if line.strip()]

    def validate(self, value: Any) -> None:
        if len(value) > MOST_STARTERS:
            raise ValidationError(_("Give at most %(most)d prompts."), params={"most": MOST_STARTERS})
        for number, line in enumerate(value, start=1):
            if len(line) > LONGEST_STARTER:
                reason = _("Prompt %(number)d is longer than %(longest)d characters.")
                raise ValidationError(reason, params={"number": number, "longest": LONGEST_STARTER})

    def run_validators(self, value: Any) -> None:
        """The parent's validators are for texts."""


class FlowForm(forms.ModelForm):  # type: ignore[type-arg]  # generic in the stubs only
    """Texts in the first language come from the flow's own columns, English ones from `translations`."""

    starters = LinesField(label=_("starter prompts"), help_text=_("One a line, up to six."))
    name_en = forms.CharField(label=_("name"), max_length=120, required=False, widget=UnfoldAdminTextInputWidget)
    description_en = forms.CharField(
        label=_("description"), max_length=300, required=False, widget=UnfoldAdminTextInputWidget
    )
    starters_en = LinesField(label=_("starter prompts"), help_text=_("One a line, up to six."))

    class Meta:
        model = Flow
        fields = ("name", "description", "starters", "icon", "category", "groups", "is_archived")
        widgets = {"icon": UnfoldAdminRadioSelectWidget}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if "icon" in self.fields:  # not for those who may only look
            self.fields["icon"].widget.choices = [(name, _labelled(name, label)) for name, label in ICONS.items()]
            self.fields["groups"].help_text = _("Without a group everybody may use the flow.")
        for field in self.fields.values():
            field.label = capfirst(field.label)
        for name, text in self.instance.translations.get("en", {}).items():
            self.initial[f"{name}_en"] = text

    def clean_icon(self) -> str:
        icon: str = self.cleaned_data["icon"]
        if icon not in ICONS:
            raise ValidationError(_("Choose one of the symbols."))
        return icon

    def save(self, commit: bool = True) -> Flow:
        english = {name: self.cleaned_data[f"{name}_en"] for name in ("name", "description", "starters")}
        given = {name: text for name, text in english.items() if text}
        others = {language: texts for language, texts in self.instance.translations.items() if language != "en"}
        self.instance.translations = others | ({"en": given} if given else {})
        flow: Flow = super().save(commit=commit)
        return flow


def _labelled(icon: str, label: Any) -> SafeString:
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"/></svg> {}', static("img/icons.svg"), icon, label
    )
