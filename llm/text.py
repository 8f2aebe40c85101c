"""Text made safe to store and to send, and text taken out of the forms in which the protocol carries it."""

from math import isfinite
from typing import Any


def safe(text: str) -> str:
    """`text` with NUL removed and lone surrogates replaced by U+FFFD; everything else stays byte for byte.

    PostgreSQL stores no NUL, and a lone surrogate (half of a character, from a cut-off escape) fits no UTF-8.
    """
    return whole(text.replace("\0", ""))


def whole(text: str) -> str:
    """`text` with lone surrogates replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def shortened(text: str, chars: int) -> str:
    """`text` itself, or so much of its beginning that it has `chars` characters with the ellipsis."""
    return text if len(text) <= chars else text[: chars - 1] + "…"


def whole_json(data: Any) -> Any:
    """JSON with every string in it `whole`, names too, so that an answer may quote any of it."""
    match data:
        case str():
            return whole(data)
        case list():
            return [whole_json(item) for item in data]
        case dict():
            return {whole(name): whole_json(value) for name, value in data.items()}
    return data


def safe_json(data: Any) -> Any:
    """JSON that can be stored: strings in it `safe`, names too, as escapes may spell any; None for NaN and infinity."""
    match data:
        case str():
            return safe(data)
        case list():
            return [safe_json(item) for item in data]
        case dict():
            return {safe(name): safe_json(value) for name, value in data.items()}
        case float():
            return data if isfinite(data) else None
    return data


def text_of(content: object) -> str:
    """The text of `content`: a string, None, or a list of parts of which those without text are left out."""
    if isinstance(content, str):
        return safe(content)
    if isinstance(content, list | tuple):
        return "".join(text_of(_part_text(part)) for part in content)
    return ""


def _part_text(part: object) -> object:
    if isinstance(part, dict):
        return part.get("text") if part.get("type", "text") in ("text", "input_text", "output_text") else None
    return part
