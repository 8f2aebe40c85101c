"""The JSON object in what a model wrote: in fences, among sentences, with a comma too many."""

import json
import re
from contextlib import suppress
from typing import Any

import json_repair

from llm.text import safe_json

LONGEST_MENDED = 20_000
"""Characters of what is mended, whose cost grows with the square: 100 000 open brackets take 15 seconds."""
_FENCE = re.compile(r"```(?:json)?\s*(.*?)(?:```|\Z)", re.DOTALL)


def object_in(text: str) -> dict[str, Any] | None:
    """The first object, mended where it is broken, and safe to store; None where there is none that can be read."""
    fence = _FENCE.search(text)
    body = fence.group(1) if fence else text
    start = body.find("{")
    if start < 0:
        return None
    try:
        found = safe_json(_read(body[start:]))
    except (RecursionError, ValueError):  # nested deeper than can be read
        return None
    if isinstance(found, list):
        found = next((part for part in found if isinstance(part, dict)), None)
    return found if isinstance(found, dict) else None


def _read(text: str) -> Any:
    """What stands at the beginning of the text. Raises ValueError or RecursionError when that cannot be read."""
    with suppress(ValueError, RecursionError):
        return json.JSONDecoder().raw_decode(text)[0]
    if len(text) > LONGEST_MENDED:
        raise ValueError(len(text))
    return json_repair.loads(text)
