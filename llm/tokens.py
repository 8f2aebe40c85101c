"""How many tokens a text will take, estimated without a model's tokeniser, and cutting a text to so many.

The rule, over UTF-8 bytes: 1/4 token for an ASCII letter or blank, 1/2 for a punctuation mark, 1 for a digit,
1/3 for each byte of anything else. So a Chinese character is 1, a Cyrillic letter 2/3 and an emoji 4/3.
docs/models.md says how far a real tokeniser is from it.
"""

import string
import unicodedata
from collections.abc import Callable, Iterable
from typing import Literal

from llm.types import Message, Usage

ELLIPSIS = "\n…\n"
"""Stands where `cut` took out the middle."""

MESSAGE_OVERHEAD = 4
"""Tokens that a chat template spends on the marks around one message."""

DIGITS = b"0123456789"
PUNCTUATION = string.punctuation.encode()
BEYOND_ASCII = bytes(range(128, 256))

JOINERS = {"\u200d", "\ufe0e", "\ufe0f"}
LONGEST_CLUSTER = 32
"""Code points after which a run of combining marks may be cut all the same."""


def count(text: str) -> int:
    """About how many tokens `text` takes; 0 for an empty text, rather too many than too few."""
    raw = text.encode("utf-8", "surrogatepass")
    digits, marks, beyond = (_occurrences(raw, kind) for kind in (DIGITS, PUNCTUATION, BEYOND_ASCII))
    letters = len(raw) - digits - marks - beyond
    twelfths = 3 * letters + 6 * marks + 12 * digits + 4 * beyond
    return -(-twelfths // 12)


def _occurrences(raw: bytes, kind: bytes) -> int:
    return len(raw) - len(raw.translate(None, kind))


def count_messages(messages: Iterable[Message]) -> int:
    """About how many tokens a prompt of these messages takes."""
    return sum(
        MESSAGE_OVERHEAD + count(message.content) + sum(count(call.arguments) for call in message.tool_calls)
        for message in messages
    )


def estimate(messages: Iterable[Message], answer: str) -> Usage:
    """The usage of a call whose endpoint counted nothing."""
    return Usage(prompt_tokens=count_messages(messages), completion_tokens=count(answer), estimated=True)


def cut(text: str, tokens: int, keep: Literal["head", "tail", "both"] = "head") -> str:
    """The part of `text` that takes at most `tokens`: its beginning, its end, or both around an ellipsis.

    Nothing is added at a single cut. A character with its accents, a joined emoji and a flag stay whole.
    """
    if count(text) <= tokens:
        return text
    if keep == "head":
        return text[: _head(text, tokens)]
    if keep == "tail":
        return text[_tail(text, tokens) :]
    room = tokens - count(ELLIPSIS)
    if room < 2:
        return text[: _head(text, tokens)]
    return text[: _head(text, room - room // 2)] + ELLIPSIS + text[_tail(text, room // 2) :]


def _head(text: str, tokens: int) -> int:
    """Where the longest beginning of at most `tokens` ends."""
    end = _largest(len(text), lambda length: count(text[:length]) <= tokens)
    for _ in range(LONGEST_CLUSTER):
        if not _inside_cluster(text, end):
            break
        end -= 1
    return end


def _tail(text: str, tokens: int) -> int:
    """Where the longest ending of at most `tokens` starts."""
    start = len(text) - _largest(len(text), lambda length: count(text[len(text) - length :]) <= tokens)
    for _ in range(LONGEST_CLUSTER):
        if not _inside_cluster(text, start):
            break
        start += 1
    return start


def _largest(limit: int, fits: Callable[[int], bool]) -> int:
    """The largest length up to `limit` that `fits`, where every shorter one fits too."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _inside_cluster(text: str, at: int) -> bool:
    """Whether a cut before position `at` would take apart what a reader sees as one character."""
    if at <= 0 or at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    if after in JOINERS or before == "\u200d" or unicodedata.combining(after):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff":  # skin tones colour the character before them
        return True
    return _is_flag_letter(after) and _flag_letters_before(text, at) % 2 == 1


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flag_letters_before(text: str, at: int) -> int:
    start = at
    while start > 0 and at - start < LONGEST_CLUSTER and _is_flag_letter(text[start - 1]):
        start -= 1
    return at - start
