"""What an endpoint refuses, learnt from its own error: that call and all later ones are made without it."""

import re
from collections.abc import Mapping
from typing import Any

from llm.payload import Payload
from llm.profile import Profile

REPLACEMENTS: Mapping[str, str | None] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
    "stream_options": None,
    "temperature": None,
    "response_format": None,
    "tools": None,
}
"""Fields that some endpoints refuse, and the field that they take instead; None: they can do without."""

NO_TOOLS = re.compile(r"tools?\b|tool[_ -]|function[_ -]?call", re.IGNORECASE)
"""Endpoints name this field in many ways: `does not support tools`, `--enable-auto-tool-choice`, `Function calling`."""

_learnt: dict[tuple[str, str], frozenset[str]] = {}
"""Refused fields by (address, model), for the life of this process."""


def known(profile: Profile) -> frozenset[str]:
    """The fields that this endpoint has refused before."""
    return _learnt.get((profile.base_url, profile.model), frozenset())


def remember(profile: Profile, refused: frozenset[str]) -> None:
    """To be called when a request without the `refused` fields was accepted."""
    _learnt[profile.base_url, profile.model] = refused


def refused_field(message: str, body: Payload, already: frozenset[str]) -> str | None:
    """The field of `body` that an error 400 or 422 with this `message` is about; None when it is none.

    A field that has been given up, or has come in the place of one, is not given up again.
    """
    given_up = already | {REPLACEMENTS[field] for field in already}
    return next(
        (
            field
            for field in REPLACEMENTS
            if field in body and field not in given_up and _is_about(message, field, body)
        ),
        None,
    )


def _is_about(message: str, field: str, body: Payload) -> bool:
    """Whether the error names the field. Once tools were called, one about tools may be about those messages."""
    if field != "tools":
        return field in message
    were_called = any(said.get("tool_calls") for said in body["messages"])
    return bool(NO_TOOLS.search(message)) and not were_called


def without(body: Payload, refused: frozenset[str]) -> Payload:
    """`body` with the `refused` fields replaced or left out."""
    adapted: dict[str, Any] = {}
    for field, value in body.items():
        name: str | None = REPLACEMENTS[field] if field in refused else field
        if name is not None:
            adapted[name] = value
    return adapted
