"""How bodies of the API are read."""

from collections.abc import Mapping
from typing import IO, Any

from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from llm.text import whole_json


class ShallowJSONParser(JSONParser):
    """JSON in whole characters, with a clear error for what is nested too deeply to be read."""

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The body as data. Raises ParseError for anything that is no JSON."""
        try:
            return whole_json(super().parse(stream, media_type, parser_context))  # type: ignore[no-any-return]
        except RecursionError as error:
            raise ParseError(_("The body is nested too deeply.")) from error
