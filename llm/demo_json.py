"""JSON of the demo model: what a text says by plain rules, else the smallest value that the schema takes."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from llm.demo import features, one_line
from llm.types import Message

Schema = Mapping[str, Any]
TEXT_BLOCK = re.compile(r"<<<data\n\[文本\]\n(?P<text>.*?)\ndata>>>", re.DOTALL)
"""The text that a flow wants put into a class, or read."""
NUMBER = re.compile(r"\d+(?:\.\d+)?")

EMPTY: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False, "null": None}
DEEPEST = 8
"""Levels after which a schema that refers to itself is answered with null."""


def json_for(schema: Schema, messages: Sequence[Message]) -> Any:
    """The value that is answered to these messages."""
    blocks = [block["text"] for message in messages if (block := TEXT_BLOCK.search(message.content))]
    if not blocks:
        return smallest(schema)
    system = "\n".join(message.content for message in messages if message.role == "system")
    return {name: _read(part, blocks[-1], system) for name, part in schema.get("properties", {}).items()}


def _read(part: Schema, text: str, system: str) -> Any:
    """Of a choice the one that shares most with the text, the last when none does; of a text its beginning."""
    if "enum" in part:
        told = {choice: _line_of(choice, system) for choice in part["enum"]}
        best = max(part["enum"], key=lambda choice: len(features(told[choice]) & features(text)))
        return best if features(told[best]) & features(text) else part["enum"][-1]
    kinds = part.get("type", "string")
    if "string" in kinds:
        return one_line(text)
    found = NUMBER.search(text) if "number" in kinds else None
    return float(found.group()) if found else None


def _line_of(choice: str, system: str) -> str:
    """The choice with what the system text says about it."""
    lines = system.splitlines()
    return next((line for line in lines if line == f"- {choice}" or line.startswith(f"- {choice}: ")), choice)


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
