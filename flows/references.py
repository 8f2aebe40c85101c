"""References in templates: `{{node_id.field}}` becomes a value, in one pass, never rescanned, never evaluated."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

REFERENCE = re.compile(r"\{\{\s*([A-Za-z][\w-]*)\.([A-Za-z_]\w*)\s*\}\}")


@dataclass(frozen=True, slots=True)
class Reference:
    """A value of another node."""

    node_id: str
    field: str


Values = Mapping[str, Mapping[str, Any]]
"""What the nodes that have run gave: `{node_id: {field: value}}`."""


def parse(template: str) -> list[str | Reference]:
    """The template as literal texts and references, in order, without empty texts."""
    parts: list[str | Reference] = []
    end = 0
    for match in REFERENCE.finditer(template):
        if match.start() > end:
            parts.append(template[end : match.start()])
        parts.append(Reference(match.group(1), match.group(2)))
        end = match.end()
    if end < len(template):
        parts.append(template[end:])
    return parts


def references(config: Any) -> Iterator[Reference]:
    """Every reference in the texts of a node's configuration, however deep."""
    if isinstance(config, str):
        yield from (part for part in parse(config) if isinstance(part, Reference))
    elif isinstance(config, Mapping):
        for value in config.values():
            yield from references(value)
    elif isinstance(config, list | tuple):
        for value in config:
            yield from references(value)


def render(template: str, values: Values) -> str:
    """The template with each reference replaced by its value; one without a value becomes the empty text.

    A value is put in as it stands: braces inside it are text, not a further reference.
    """
    return "".join(part if isinstance(part, str) else _text(values, part) for part in parse(template))


def _text(values: Values, reference: Reference) -> str:
    value = values.get(reference.node_id, {}).get(reference.field)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
