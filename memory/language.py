"""Which script a text is written in: what is made from a conversation must be in the language of the conversation."""

import re
from typing import Literal

Language = Literal["zh", "ja", "ko", "other"]

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_LETTER = re.compile(r"[A-Za-z\u00c0-\u024f\u0370-\u05ff\u0600-\u06ff]+")

NAMES: dict[Language, str] = {"zh": "简体中文 (Chinese)", "ja": "日本語", "ko": "한국어"}


def language_of(text: str) -> Language:
    """By its characters: a Chinese character counts as a word does. Other scripts are told apart by nobody here."""
    han, kana, hangul = (len(pattern.findall(text)) for pattern in (_HAN, _KANA, _HANGUL))
    if kana * 4 > han + kana:
        return "ja"
    if hangul > han:
        return "ko"
    return "zh" if han > len(_LETTER.findall(text)) else "other"


def same_language(made: str, source: str) -> bool:
    """Whether `made` is in the language of `source`; names and codes in another script do not decide."""
    return not made.strip() or language_of(made) == language_of(source)


def named(text: str) -> str:
    """How a model is told which language to write."""
    return NAMES.get(language_of(text), "the language that the user writes")
