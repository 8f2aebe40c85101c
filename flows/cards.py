"""What a person may change in a card when they accept it, checked before anything is done."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from flows.nodes.assign_card import ASSIGN_WORK, DESCRIPTION_CHARS, TITLE_CHARS
from memory.fields import Line, SafeText, Strict
from memory.person import Person
from profiles.models import UserProfile
from profiles.serializers import Moment

NO_TITLE = gettext_lazy("Say what is to be done.")
LATEST_YEAR = 9998
"""Later ones leave no room for time zones."""


class AssignWorkFields(Strict):
    """What may be changed in the card of a task: its words, who does it, and when it is due."""

    title = Line(required=False, max_length=TITLE_CHARS, error_messages={"blank": NO_TITLE})
    description = SafeText(required=False, allow_blank=True, max_length=DESCRIPTION_CHARS)
    assignee = serializers.IntegerField(required=False)
    due_at = Moment(required=False, allow_null=True)

    def validate_assignee(self, chosen: int) -> int:
        """One of those on the card, whose permission is checked when the task is made, or anybody assignable."""
        if chosen in _on(self.context["card"]):
            return chosen
        if not 0 < chosen < 2**31 or not UserProfile.objects.assignable_by(self.context["user"]).filter(pk=chosen):
            raise ValidationError(_("Choose somebody from the list."))
        return chosen

    def validate_due_at(self, due: datetime | None) -> datetime | None:
        """Not in the past."""
        if due is not None and not timezone.now() < due.astimezone(UTC) < datetime(LATEST_YEAR, 1, 1, tzinfo=UTC):
            raise ValidationError(_("Choose a moment that is still to come, or none."))
        return due

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        """Somebody has to be chosen and something to be done, here or on the card."""
        if given.get("assignee") is None and not self.context["card"]["assignee"]:
            raise ValidationError({"assignee": _("Choose who is to do it.")})
        if not given.get("title") and not self.context["card"]["title"]:
            raise ValidationError({"title": NO_TITLE})
        return given


FIELDS: dict[str, type[Strict]] = {ASSIGN_WORK: AssignWorkFields}
"""The fields of each kind of card; a kind that is not named has none."""


def checked(kind: str, fields: Mapping[str, Any], *, card: Mapping[str, Any], user: Person) -> dict[str, Any]:
    """The fields as they are kept. Raises ValidationError with the mistakes of each under `fields`."""
    form = FIELDS.get(kind, Strict)(data=fields, context={"card": card, "user": user})
    if not form.is_valid():
        raise ValidationError({"fields": form.errors})
    given: dict[str, Any] = dict(form.validated_data)
    return {name: _kept(value) for name, value in given.items()}


def _kept(value: Any) -> Any:
    return f"{value.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if isinstance(value, datetime) else value


def _on(card: Mapping[str, Any]) -> set[int]:
    people = [*card["candidates"], *([card["assignee"]] if card["assignee"] else [])]
    return {person["user_id"] for person in people}
