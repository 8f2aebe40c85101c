"""Fields and checks that every serializer of the API shares."""

import re
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers
from rest_framework.exceptions import NotFound

from llm.text import safe


class SafeText(serializers.CharField):
    """Text as it was typed, blanks included; lone surrogates and NUL made safe instead of refused."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"trim_whitespace": False} | options)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        value = super().run_validation(safe(data) if isinstance(data, str) else data)
        if isinstance(value, str) and not self.allow_blank and not value.strip():
            self.fail("blank")
        return value


class Line(SafeText):
    """Text on one line, such as a title: line ends and control characters become blanks."""

    BROKEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")

    def run_validation(self, data: Any = serializers.empty) -> Any:
        return super().run_validation(self.BROKEN.sub(" ", data).strip() if isinstance(data, str) else data)


class SafeTexts(serializers.DictField):
    """Texts by name, the names made safe as the texts are."""

    child = SafeText(allow_blank=True)

    def to_internal_value(self, data: Any) -> dict[str, str]:
        return {safe(name): text for name, text in super().to_internal_value(data).items()}


class ObjectId(serializers.UUIDField):
    """The id of an object in a body. One that is malformed is a missing one: 404, as in an address.

    Only the spelling that we give out counts; Python's UUID would take braces and hyphens anywhere.
    """

    def to_internal_value(self, data: Any) -> UUID:
        try:
            value = UUID(data) if isinstance(data, str) else None
        except ValueError:
            value = None
        if value is None or str(value) != data:
            raise NotFound
        return value


class Strict(serializers.Serializer[Any]):
    """Refuses fields that it does not know: a misspelt switch must not be passed over in silence."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := sorted(set(data) - set(self.fields))):
            message = _("There is no such field. Leave it out, or see /api/docs for the fields there are.")
            raise serializers.ValidationError(dict.fromkeys(map(str, unknown), message))
        return super().to_internal_value(data)


def nothing_in(request: Any) -> None:
    """Checks the body of a request that takes none. Raises ValidationError for any field."""
    Strict(data=request.data).is_valid(raise_exception=True)


def whole_number(request: Any, name: str, *, default: int, least: int, most: int) -> int:
    """The query parameter `name`; more than `most` counts as `most`. Raises ValidationError for what is no number."""
    text = request.query_params.get(name, str(default))
    if not (text.isascii() and text.isdecimal() and len(text) <= 10 and int(text) >= least):
        message = _("Use a whole number that is at least {least}.").format(least=least)
        raise serializers.ValidationError({name: message})
    return min(int(text), most)


class ErrorDetail(serializers.Serializer[Any]):
    """One thing that is wrong: `attr` names the field, or is null."""

    code = serializers.CharField()
    detail = serializers.CharField()
    attr = serializers.CharField(allow_null=True)


class Error(serializers.Serializer[Any]):
    """What every refused or failed request gets; `turn_id` where the error names a turn."""

    type = serializers.ChoiceField(choices=["validation_error", "client_error", "server_error"])
    errors = ErrorDetail(many=True)  # type: ignore[assignment]  # the name that a serializer has for its own mistakes
    turn_id = serializers.UUIDField(required=False)


def query(serializer: type[serializers.Serializer[Any]], request: Any) -> dict[str, Any]:
    """The checked query parameters of a request, paging left out. Raises ValidationError for unknown ones."""
    given = {name: value for name, value in request.query_params.items() if name not in ("cursor", "limit")}
    checked = serializer(data=given)
    checked.is_valid(raise_exception=True)
    return dict(checked.validated_data)
