"""The smallest value that a JSON Schema takes, so that flows which ask for JSON run with the demo model."""

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

EMPTY: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False, "null": None}
DEEPEST = 8
"""Levels after which a schema that refers to itself is answered with null."""


def smallest(schema: Schema) -> Any:
    """A value for `schema`: required properties only, shortest arrays, the first choice of an enum."""
    return _value(schema, schema, DEEPEST)


def _value(schema: Schema, root: Schema, depth: int) -> Any:
    if depth == 0:
        return None
    if "$ref" in schema:
        return _value(_referred(schema["$ref"], root), root, depth - 1)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return _value(schema[key][0], root, depth - 1)
    if "const" in schema or "default" in schema:
        return schema.get("const", schema.get("default"))
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: _value(properties.get(name, {}), root, depth - 1) for name in schema.get("required", ())}
    if kind == "array":
        return [_value(schema.get("items", {}), root, depth - 1) for _ in range(schema.get("minItems", 0))]
    return schema.get("minimum", EMPTY.get(kind))


def _referred(reference: str, root: Schema) -> Schema:
    """What a reference inside the document, such as `#/$defs/Entity`, points at."""
    found: Any = root
    for name in reference.removeprefix("#/").split("/"):
        found = found.get(name, {})
    return found if isinstance(found, Mapping) else {}
