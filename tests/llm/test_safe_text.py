"""Text survives byte for byte; only what no store and no wire can carry is made safe (M5)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.text import safe, text_of

ANY_CHARACTER = st.characters(codec=None, categories=None)


@given(st.text())
def test_text_without_nul_and_lone_surrogates_is_left_alone(text: str) -> None:
    assert safe(text) == text.replace("\0", "")


@given(st.text(ANY_CHARACTER))
def test_any_text_becomes_one_that_utf8_can_carry_without_nul(text: str) -> None:
    assert "\0" not in safe(text).encode().decode()


@pytest.mark.parametrize("text", ["你好，世界", "👩‍👩‍👧", "שלום", "𠮷野家", "a\u200b\ufeffb", "\r\n\t"])
def test_chinese_emoji_and_invisible_characters_stay_byte_for_byte(text: str) -> None:
    assert safe(text) == text


def test_a_lone_surrogate_becomes_a_replacement_character_and_its_neighbours_stay() -> None:
    assert safe("前\ud83d后") == "前\ufffd后"
    assert safe("前\ude00后\0。") == "前\ufffd后。"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("好", "好"),
        (None, ""),
        ([], ""),
        (
            [{"type": "text", "text": "一"}, {"type": "image_url", "image_url": {}}, {"type": "text", "text": "二"}],
            "一二",
        ),
        ([{"type": "thinking", "thinking": "嗯"}, "好", None], "好"),
        ({"text": "?"}, ""),
        (7, ""),
    ],
)
def test_content_is_taken_in_every_form_that_clients_send(content: object, text: str) -> None:
    """A list of parts or None must not break a conversation (memory fault 29)."""
    assert text_of(content) == text
