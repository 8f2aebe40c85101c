"""The object in what a model wrote, whatever else it wrote."""

from typing import Any

import pytest

from llm.loose_json import object_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Here: ```json\n{"a": [1, 2,]}\n``` done', {"a": [1, 2]}),
        ('{"a": 1} and {"b": 2}', {"a": 1}),
        ('{"a": "x', {"a": "x"}),
        ("no object", None),
        ("[1, 2]", None),
    ],
)
def test_the_first_object_is_found_and_mended(text: str, found: Any) -> None:
    assert object_in(text) == found


def test_what_is_found_can_be_stored() -> None:
    """PostgreSQL takes no NUL, no half of a character, and no number that is none."""
    found = object_in(r'{"\u0000a": ["\u0000b", "\ud83d", NaN, {"c": -Infinity}, 1e999], "d": 1.5}')
    assert found == {"a": ["b", "\ufffd", None, {"c": None}, None], "d": 1.5}


@pytest.mark.parametrize("text", ["{" * 100_000, '{"a":' + "[" * 2_000 + "]" * 2_000 + "}", '{"a":' * 50_000])
def test_what_has_no_end_is_no_object(text: str) -> None:
    assert object_in(text) is None


def test_a_long_object_that_is_whole_is_read() -> None:
    assert object_in(f'{{"a": "{"x" * 100_000}"}}') == {"a": "x" * 100_000}
