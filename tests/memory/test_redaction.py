"""L11: what is made from a conversation holds no key, resident id or bank card; ordinary numbers survive."""

import pytest

from memory.redaction import CARD, KEY, RESIDENT_ID, redact

KEY_LIKE = "sk-" + "abcDEF1234567890" * 2


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("我的身份证11010519491231002X。", f"我的身份证{RESIDENT_ID}。"),
        ("id 11010519491231002x", f"id {RESIDENT_ID}"),
        ("１１０１０５１９４９１２３１００２Ｘ", RESIDENT_ID),
        ("110105 19491231 002X 是我", f"{RESIDENT_ID} 是我"),
        ("卡号 6222 0212 3456 7890 3，谢谢", f"卡号 {CARD}，谢谢"),
        ("visa 4111-1111-1111-1111 ok", f"visa {CARD} ok"),
        ("订单 1234 4111111111111111", f"订单 1234 {CARD}"),
        (f"用 {KEY_LIKE} 调用", f"用 {KEY} 调用"),
        (f"密钥{KEY_LIKE}，别外传", f"密钥{KEY}，别外传"),
        ("令牌ghp_abcdefghij0123456789好的", f"令牌{KEY}好的"),
        ("用AKIAIOSFODNN7EXAMPLE登录", f"用{KEY}登录"),
        ("请求头是Bearer abcdef123456", f"请求头是Bearer {KEY}"),
        ("密码：　hunter22abc", f"密码：　{KEY}"),
        ("api_key=abcd1234efgh", f"api_key={KEY}"),
        ("密码：hunter22abc", f"密码：{KEY}"),
        ("Authorization: Bearer abcdef123456", f"Authorization: Bearer {KEY}"),
        ("postgres://me:pw@host/db", f"postgres://{KEY}@host/db"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", KEY),
    ],
)
def test_secrets_are_replaced_by_what_they_were(typed: str, kept: str) -> None:
    assert redact(typed) == kept


@pytest.mark.parametrize(
    "ordinary",
    [
        "订单号 202611300012345678 请查",  # 18 digits, no resident id
        "11010519491231002Y",
        "110105194913310023",  # no such month
        "4111111111111112",  # fails its checksum
        "1234567812345670",  # passes it, but no issuer has it
        "电话 13800138000，分机 8001",
        "合同 AB-1203 第 3 版",
        "token economy is growing",
        "scikit and sk-learn are fine",
        "3 月 5 日 10:30 到 11:00 开会，预算 120000 元",
    ],
)
def test_ordinary_numbers_and_words_survive(ordinary: str) -> None:
    assert redact(ordinary) == ordinary


def test_redacting_twice_changes_nothing() -> None:
    once = redact(f"身份证11010519491231002X 和 {KEY_LIKE}")
    assert redact(once) == once


def test_a_long_text_of_digits_is_read_in_reasonable_steps() -> None:
    text = "1234 " * 20_000
    assert redact(text) == text
