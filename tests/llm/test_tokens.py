"""Estimates of tokens, and cutting to them: the prompt budget stands on both (M9)."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.tokens import ELLIPSIS, count, count_messages, cut, estimate
from llm.types import Message, ToolCall

FAMILY, FLAG, ACCENTED = "👨‍👩‍👧‍👦", "🇨🇳", "e\u0301"


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("项目进度如何", 6),
        ("how are you doing today", 6),
        ("2026", 4),
        ("AB-1203", 5),
        ("{}", 1),
        ("Привет", 4),
    ],
)
def test_a_chinese_character_counts_one_a_latin_letter_a_quarter_a_digit_one(text: str, tokens: int) -> None:
    assert count(text) == tokens


@given(st.text(), st.text())
def test_a_longer_text_never_counts_less(one: str, other: str) -> None:
    assert max(count(one), count(other)) <= count(one + other) <= count(one) + count(other)


def test_a_prompt_counts_its_messages_their_tool_calls_and_what_the_template_adds() -> None:
    call = ToolCall(id="1", name="find", arguments="参数参数")
    assert count_messages([Message("user", "你好"), Message("assistant", "", tool_calls=(call,))]) == 4 + 2 + 4 + 4
    assert estimate([Message("user", "你好")], "好的").estimated


@given(st.text(), st.integers(0, 40), st.sampled_from(["head", "tail", "both"]))
def test_a_cut_text_never_takes_more_than_was_asked(text: str, tokens: int, keep: str) -> None:
    part = cut(text, tokens, keep)  # type: ignore[arg-type]  # hypothesis gives plain strings
    assert count(part) <= tokens or part == text


def test_the_head_is_a_beginning_the_tail_an_ending_and_both_say_that_something_is_missing() -> None:
    text = "一二三四五六七八九十" * 3
    assert cut(text, 4) == "一二三四"
    assert cut(text, 4, keep="tail") == "七八九十"
    both = cut(text, 10, keep="both")
    head, tail = both.split(ELLIPSIS)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert head
    assert tail


@given(st.text(alphabet=f"项a{FAMILY}{FLAG}{ACCENTED}\ufe0f"), st.integers(0, 20))
def test_a_cut_never_begins_with_what_belongs_to_the_character_before(text: str, tokens: int) -> None:
    tail = cut("项" + text, tokens, keep="tail")
    if tail and tail != "项" + text and len(text) < 32:
        assert not unicodedata.combining(tail[0])
        assert tail[0] not in "\u200d\ufe0f"


@pytest.mark.parametrize("cluster", [FAMILY, FLAG, ACCENTED, "👍🏽"])
@pytest.mark.parametrize("tokens", range(1, 12))
def test_a_character_of_several_code_points_stays_whole_or_goes_whole(cluster: str, tokens: int) -> None:
    text = cluster * 6
    assert len(cut(text, tokens)) % len(cluster) == 0
    assert len(cut(text, tokens, keep="tail")) % len(cluster) == 0


def test_a_message_of_a_hundred_kilobytes_is_cut() -> None:
    assert count(cut("报告" * 50_000, 1_000, keep="both")) <= 1_000
