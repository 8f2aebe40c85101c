"""Text made safe to store and to send, and text taken out of the forms in which the protocol carries it."""


def safe(text: str) -> str:
    """`text` with NUL removed and lone surrogates replaced by U+FFFD; everything else stays byte for byte.

    PostgreSQL stores no NUL, and a lone surrogate (half of a character, from a cut-off escape) fits no UTF-8.
    """
    if "\0" in text:
        text = text.replace("\0", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


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
