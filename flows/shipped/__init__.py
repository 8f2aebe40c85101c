"""The flows that every installation starts with, one JSON file each."""

import json
from pathlib import Path
from typing import Any

from flows.models import Flow
from flows.validation import validate


def read_all() -> list[dict[str, Any]]:
    """The shipped flows as data, in the order of the catalogue."""
    files = [
        Path(__file__).parent / f"{slug}.json"
        for slug in ("assistant", "weekly-report", "translate-polish", "assign-work")
    ]
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def install() -> None:
    """Adds the shipped flows that are missing and publishes those whose definition has changed.

    What an administrator changed of their names, texts and groups stays.
    """
    for data in read_all():
        definition = data.pop("definition")
        validate(definition)
        flow, _ = Flow.objects.get_or_create(slug=data.pop("slug"), defaults=data)
        latest = flow.versions.first()
        if latest is None or latest.definition != definition:
            flow.publish(definition)
