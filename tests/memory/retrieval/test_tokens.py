"""Tokens: what finds what, in two languages and two scripts (L4)."""

import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory.retrieval.tokens import LONGEST_TOKEN, MOST_TOKENS, tokens, tokens_of_unit


@pytest.fixture(autouse=True)
def use() -> None:
    """In place of the fixture of that name beside: what is tested here needs no store."""


def shared(query: str, text: str) -> set[str]:
    return tokens(query).keys() & tokens(text).keys()


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("项目a", "项目 A 的接口还没联调"),
        ("项目Ａ", "项目a"),
        ("预算", "今年的部门预算是五十万"),
        ("进度", "项目进度如何"),
        ("猫", "我养了一只猫"),
        ("猫叫什么", "我养了一只猫"),
        ("欧阳靖", "新同事欧阳靖下周一入职"),
        ("于洋", "这件事由于洋负责"),
        ("和平", "张和平在和平饭店"),
        ("目的", "这次出差的目的是签合同"),
        ("資料庫備份", "数据库的资料库备份"),
        ("软件", "這個軟件要更新"),
        ("後台", "后台"),
        ("AB-1203", "采购单 AB-1203 到货"),
        ("ab1203", "采购单AB-1203到货"),
        ("AB_1203", "AB-1203"),
        ("1203", "采购单 AB-1203"),
        ("Ab-1203", "AB‑1203".replace("‑", "-")),
        ("v2.3.1", "升级到V2.3.1"),
        ("2026-01-15", "截止2026-01-15"),
        ("3.14", "圆周率约3.14"),
        ("meetings", "the meeting is on Friday"),
        ("running costs", "what does it cost to run"),
        ("IT部门", "IT部门的王伟"),
        ("ＡＢＣ", "abc"),
        ("Straße", "STRASSE"),
        ("カタカナ", "カタカナで書く"),
        ("한국어", "한국어 회의"),
    ],
)
def test_a_query_finds_the_text(query: str, text: str) -> None:
    assert shared(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("AB-1203", "CD-9917"),
        ("2026-01-15", "项目进度"),
        ("什么是这个", "那个什么的是这样"),
        ("what is it", "where was that"),
        ("我们的", "他们的我们的"),
    ],
)
def test_a_query_does_not_find_the_text(query: str, text: str) -> None:
    assert not shared(query, text)


@pytest.mark.parametrize("code", ["ab1203", "3.14", "2026-01-15", "v231"])
def test_a_code_stays_whole(code: str) -> None:
    written = {"ab1203": "AB-1203", "v231": "v2.3.1"}.get(code, code)
    assert code in tokens(f"订单{written}。")


def test_a_single_letter_tells_one_project_from_another() -> None:
    assert shared("项目A", "项目A") > shared("项目A", "项目B")
    assert shared("project A", "project A") > shared("project A", "project B")


@given(st.text())
@example("\ud800")
@example("\0")
@example("AB-1203\u200b项目")
@example("ǆ" * 200)
def test_any_text_has_tokens_that_can_be_stored(text: str) -> None:
    found = tokens(text)
    assert all(0 < len(token.encode()) <= 4 * LONGEST_TOKEN and count > 0 for token, count in found.items())
    assert not any("\0" in token or token.isspace() for token in found)


@given(st.text(alphabet="项目进度如何張三豐資料庫AB-12 a."))
def test_width_and_case_make_no_difference(text: str) -> None:
    wide = text.translate({code: code + 0xFEE0 for code in map(ord, string.ascii_letters + string.digits)})
    assert tokens(text) == tokens(text.upper()) == tokens(wide)


@pytest.mark.parametrize(
    "text",
    [
        "".join(chr(0x4E00 + number * 7 % 20_000) for number in range(34_000)),
        " ".join(f"word{number}" for number in range(12_000)),
        "a" * 100_000,
        "x-1" * 33_000,
        "项" * 34_000,
        "=" * 100_000,
    ],
    ids=["Chinese", "words", "one word", "one code", "one character", "marks"],
)
def test_a_text_of_100_kb_has_a_bounded_number_of_tokens(text: str) -> None:
    found = tokens(text)
    assert len(found) <= MOST_TOKENS
    assert max(map(len, found), default=0) <= LONGEST_TOKEN


def test_a_code_at_the_end_of_a_long_text_is_not_the_one_that_is_left_out() -> None:
    long = "".join(chr(0x4E00 + number * 7 % 20_000) for number in range(30_000))
    assert "ab1203" in tokens(f"{long} AB-1203")


def test_the_own_words_of_a_unit_count_twice_those_of_its_context_once() -> None:
    found = tokens_of_unit("预算批了", context="预算多少")
    assert (found["预算"], found["批"], found["多少"]) == (3, 2, 1)


def test_a_unit_is_found_by_what_was_asked_before_it() -> None:
    assert tokens("接口联调").keys() & tokens_of_unit("周三。", context="接口什么时候联调？").keys()


def test_a_long_context_does_not_make_a_unit_larger_than_the_bound() -> None:
    words = [" ".join(f"{letter}{number}" for number in range(4_000)) for letter in "pq"]
    assert len(tokens_of_unit(words[0], context=words[1])) <= MOST_TOKENS
