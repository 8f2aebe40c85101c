"""The form in which work is given and edited on its page."""

from datetime import datetime, time
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from llm.text import safe
from memory.person import Person
from profiles.dates import END_OF_DAY
from profiles.models import UserProfile, WorkTask


class TaskForm(forms.Form):
    """Title, what it is about, for whom, and by when: a day, and a time if that matters.

    The day is one in the person's zone; without a time it ends at 23:59. In editing there is no `assignee`.
    """

    title = forms.CharField(max_length=200)
    description = forms.CharField(max_length=5000, required=False)
    assignee = forms.ModelChoiceField(queryset=UserProfile.objects.none())
    due_date = forms.DateField(required=False)
    due_time = forms.TimeField(required=False)

    def __init__(self, data: Any = None, *, user: Person, editing: bool = False) -> None:
        super().__init__(data)
        if editing:
            del self.fields["assignee"]
        else:
            people: Any = self.fields["assignee"]
            people.queryset = UserProfile.objects.assignable_by(user)
            people.error_messages["invalid_choice"] = _("Choose somebody from the list.")

    def clean_title(self) -> str:
        """On one line."""
        return " ".join(safe(self.cleaned_data["title"]).split())

    def clean_description(self) -> str:
        return safe(self.cleaned_data["description"]).replace("\r\n", "\n")

    def clean(self) -> dict[str, Any]:
        """Adds `due_at`."""
        cleaned = super().clean() or {}
        day, clock = cleaned.get("due_date"), cleaned.get("due_time")
        if clock and not day:
            self.add_error("due_date", _("Choose the day too."))
        cleaned["due_at"] = timezone.make_aware(datetime.combine(day, clock or END_OF_DAY)) if day else None
        return cleaned


def shown_in_form(task: WorkTask) -> dict[str, str]:
    """A task as the form's fields, by name, for the page's script."""
    due = timezone.localtime(task.due_at) if task.due_at else None
    clock = due.time() if due else END_OF_DAY
    is_day = time(clock.hour, clock.minute) == END_OF_DAY
    return {
        "title": task.title,
        "description": task.description,
        "due_date": due.date().isoformat() if due else "",
        "due_time": "" if is_day else clock.strftime("%H:%M"),
    }
