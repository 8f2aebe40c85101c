"""BM25: what its numbers promise to whoever adds and divides them (L4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.retrieval import bm25


@pytest.fixture(autouse=True)
def use() -> None:
    """In place of the fixture of that name beside: what is tested here needs no store."""


COUNTS = st.integers(min_value=1, max_value=10_000)


@given(units=COUNTS, holding=COUNTS)
def test_a_rarer_token_tells_more_and_none_tells_less_than_nothing(units: int, holding: int) -> None:
    holding = min(holding, units)
    assert bm25.idf(units, holding) > 0
    assert bm25.idf(units, holding - 1) > bm25.idf(units, holding)


@given(frequency=COUNTS, length=COUNTS, average=st.floats(min_value=1, max_value=10_000))
def test_saying_a_token_again_counts_less_and_less(frequency: int, length: int, average: float) -> None:
    once, twice, thrice = (
        bm25.weight(times, length=length, average=average) for times in (frequency, frequency + 1, frequency + 2)
    )
    assert 0 < once < twice < thrice < bm25.K1 + 1
    assert twice - once > thrice - twice


@given(frequency=COUNTS, length=COUNTS)
def test_a_longer_unit_counts_less(frequency: int, length: int) -> None:
    assert bm25.weight(frequency, length=length + 1, average=100) < bm25.weight(frequency, length=length, average=100)


@given(st.dictionaries(st.text(min_size=1), st.tuples(st.integers(0, 50), COUNTS), min_size=1))
def test_no_unit_scores_as_much_as_the_most(said: dict[str, tuple[int, int]]) -> None:
    frequencies = {token: holding for token, (holding, _) in said.items()}
    score = sum(
        bm25.idf(50, holding) * bm25.weight(times, length=100, average=100)
        for holding, times in said.values()
        if holding
    )
    assert score < bm25.most(said, frequencies, 50)


def test_the_numbers_are_those_of_the_formula() -> None:
    assert bm25.idf(10, 2) == pytest.approx(2.5177, abs=1e-4)
    assert bm25.weight(2, length=10, average=10) == pytest.approx(2 * 2.2 / 3.2)


def test_what_nobody_said_weighs_like_what_was_said_once() -> None:
    assert bm25.most(["unheard"], {}, 3) == bm25.most(["once"], {"once": 1}, 3)


def test_a_query_of_nothing_and_a_store_of_nothing_are_no_error() -> None:
    assert bm25.most([], {}, 0) == 0
    assert bm25.most(["项目"], {}, 0) > 0
