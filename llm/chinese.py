"""Chinese in one script."""

from functools import cache

import opencc


def simplified(text: str) -> str:
    """`text` with Traditional characters as Simplified ones, chosen by the words they stand in. No lone surrogates."""
    return text if text.isascii() else _converter().convert(text)


@cache
def _converter() -> opencc.OpenCC:
    return opencc.OpenCC("t2s")
