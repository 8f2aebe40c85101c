"""The JSON object in what a model wrote: in fences, among sentences, with a comma too many."""

import re
from typing import Any

import json_repair

_FENCE = re.compile(r"```(?:json)?\s*(.*?)(?:```|\Z)", re.DOTALL)


def object_in(text: str) -> dict[str, Any] | None:
    """The first object, mended where it is broken; None where there is none."""
    fence = _FENCE.search(text)
    body = fence.group(1) if fence else text
    start = body.find("{")
    if start < 0:
        return None
    found = json_repair.loads(body[start:])
    if isinstance(found, list):
        found = next((part for part in found if isinstance(part, dict)), None)
    return found if isinstance(found, dict) else None
