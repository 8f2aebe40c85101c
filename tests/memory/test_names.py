"""Names that are found by rule, where no model reads a conversation."""

import pytest

from memory.names import names_in


@pytest.mark.parametrize("text", ["我们用Excel做报表", "we do it in Excel", "报表在 Excel 里"])
def test_a_latin_name_is_one_beside_chinese_too(text: str) -> None:
    """L12: Chinese leaves no blanks around it."""
    assert "Excel" in [name.text for name in names_in(text)]


def test_half_a_name_is_none() -> None:
    """A letter with an accent is a letter."""
    assert [name.text for name in names_in("咖啡找Josés") if name.text.startswith("Jos")] in ([], ["Josés"])
