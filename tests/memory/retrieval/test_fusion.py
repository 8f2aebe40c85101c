"""Fusion: which units answer, in which order, and when none does (L4)."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.retrieval.fusion import Candidate, QueryFeatures, rank


@pytest.fixture(autouse=True)
def use() -> None:
    """In place of the fixture of that name beside: what is tested here needs no store."""


NOW = datetime(2026, 1, 15, tzinfo=UTC)
SESSION = uuid.UUID(int=1)
QUERY = QueryFeatures(tokens={"预算": 1, "部门": 1, "调整": 1}, frequencies={"预算": 4, "部门": 9}, units=100)
LONG_QUERY = QueryFeatures(tokens={f"词{number}": 1 for number in range(60)}, frequencies={"词1": 4}, units=100)


def unit(number: int, **values: Any) -> Candidate:
    """A unit of a session of its own, said just now, that neither leg thinks much of."""
    fields = {"keyword": None, "vector": 0.0, "session": uuid.UUID(int=1000 + number), "seq": 1, "occurred_at": NOW}
    return (
        Candidate(id=number, text=f"text {number}", **(fields | values))
        if "text" not in values
        else Candidate(id=number, **(fields | values))
    )


def order(*candidates: Candidate, query: QueryFeatures = QUERY) -> list[int]:
    return [hit.id for hit in rank(query, candidates, now=NOW)]


def score(*candidates: Candidate, query: QueryFeatures = QUERY) -> float:
    return rank(query, candidates, now=NOW)[0].score


def covering(share: float, query: QueryFeatures = QUERY) -> float:
    """The keyword score of a unit that covers this share of the query."""
    return share * query.most


# --- Two legs -------------------------------------------------------------------------------------------------


def test_a_unit_that_says_what_was_asked_comes_before_one_that_is_only_alike() -> None:
    assert order(unit(1, vector=0.45), unit(2, keyword=covering(0.5), vector=0.2)) == [2, 1]


def test_the_meaning_decides_where_the_words_say_little() -> None:
    said, meant = unit(1, keyword=covering(0.03, LONG_QUERY), vector=0.1), unit(2, vector=0.5)
    assert order(said, meant, query=LONG_QUERY)[0] == 2


def test_a_unit_that_both_legs_found_comes_first() -> None:
    words, meaning = covering(0.3), 0.4
    assert order(unit(1, keyword=words), unit(2, vector=meaning), unit(3, keyword=words, vector=meaning))[0] == 3


def test_without_any_vector_the_words_rank_alone() -> None:
    shares = {1: 0.3, 2: 0.6, 3: 0.5}
    found = order(*(unit(number, keyword=covering(share), vector=None) for number, share in shares.items()))
    assert found == [2, 3, 1]


def test_a_unit_whose_vector_is_still_to_come_is_not_put_behind_the_others_for_it() -> None:
    pending = unit(1, keyword=covering(0.5), vector=None)
    others = [unit(number, keyword=covering(0.45), vector=0.2) for number in range(2, 6)]
    assert order(*others, pending)[0] == 1


# --- The floor ------------------------------------------------------------------------------------------------


def test_nothing_answers_when_there_is_nothing() -> None:
    assert order() == []


def test_an_unrelated_query_brings_nothing() -> None:
    noise = [unit(number, vector=0.05 + 0.01 * (number % 15)) for number in range(80)]
    assert order(*noise) == []


def test_one_common_character_in_a_long_question_is_no_answer() -> None:
    assert order(unit(1, keyword=covering(0.005, LONG_QUERY), vector=0.1), query=LONG_QUERY) == []


def test_one_answer_among_noise_is_found_and_the_noise_is_left_out() -> None:
    noise = [unit(number, vector=0.05) for number in range(2, 80)]
    assert order(unit(1, keyword=covering(0.6), vector=0.5), *noise) == [1]


def test_a_paraphrase_without_a_common_word_is_an_answer() -> None:
    assert order(unit(1, vector=0.58)) == [1]


def test_a_word_that_was_asked_for_alone_is_an_answer_without_vectors() -> None:
    query = QueryFeatures(tokens={"预算": 1}, frequencies={"预算": 1}, units=1)
    assert order(unit(1, keyword=covering(0.5, query), vector=None), query=query) == [1]


# --- What else counts -----------------------------------------------------------------------------------------


def test_the_turn_before_a_good_hit_is_lifted() -> None:
    before = unit(1, session=SESSION, seq=4, vector=0.4)
    hit = unit(2, session=SESSION, seq=5, keyword=covering(0.3), vector=0.5)
    apart = unit(3, vector=0.45)
    assert order(before, hit, apart) == [2, 1, 3]


def test_another_hit_of_the_same_session_is_lifted() -> None:
    hit = unit(1, session=SESSION, seq=5, keyword=covering(0.3), vector=0.5)
    same, other = unit(2, session=SESSION, seq=11, vector=0.4), unit(3, vector=0.45)
    assert order(hit, same, other) == [1, 2, 3]


def test_units_without_a_session_are_no_neighbours() -> None:
    hit = unit(1, session=None, seq=5, keyword=covering(0.3), vector=0.5)
    next_one, other = unit(2, session=None, seq=4, vector=0.4), unit(3, vector=0.45)
    assert order(hit, next_one, other) == [1, 3, 2]


def test_of_two_that_answer_alike_the_newer_comes_first() -> None:
    old = unit(2, keyword=covering(0.5), vector=0.5, occurred_at=NOW - timedelta(days=300))
    assert order(old, unit(1, keyword=covering(0.5), vector=0.5)) == [1, 2]


def test_age_does_not_hide_a_clear_answer() -> None:
    old = unit(1, keyword=covering(0.7), vector=0.5, occurred_at=NOW - timedelta(days=3_000))
    assert order(unit(2, keyword=covering(0.5), vector=0.45), old)[0] == 1


def test_what_is_pinned_comes_before_what_answers_alike() -> None:
    assert order(unit(1, keyword=covering(0.5)), unit(2, keyword=covering(0.45), weight=1.5)) == [2, 1]


def test_being_pinned_is_no_answer() -> None:
    assert order(unit(1, vector=0.1, weight=100.0)) == []


# --- The same said twice --------------------------------------------------------------------------------------


def test_the_same_words_come_once_as_the_newest() -> None:
    old = unit(1, keyword=covering(0.6), vector=0.5, text="項目A：上線！", occurred_at=NOW - timedelta(days=9))
    new = unit(2, keyword=covering(0.5), vector=0.5, text="项目a 上线")
    assert order(old, new) == [2]


def test_another_number_is_another_statement() -> None:
    texts = {1: "预算是 50 万", 2: "预算是 60 万"}
    both = [unit(number, keyword=covering(0.5), vector=0.5, text=text) for number, text in texts.items()]
    assert sorted(order(*both)) == [1, 2]


def test_units_without_words_are_not_taken_for_one_another() -> None:
    assert sorted(order(*(unit(number, vector=0.5, text="……") for number in (1, 2)))) == [1, 2]


# --- The score ------------------------------------------------------------------------------------------------

CANDIDATES = st.lists(
    st.builds(
        unit,
        st.integers(1, 500),
        keyword=st.none() | st.floats(0, QUERY.most),
        vector=st.none() | st.floats(-1, 1),
        session=st.none() | st.sampled_from([SESSION, uuid.UUID(int=2)]),
        seq=st.integers(1, 20),
        occurred_at=st.datetimes(datetime(2020, 1, 1), datetime(2027, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
        weight=st.floats(0, 10),
    ),
    unique_by=lambda candidate: candidate.id,
)


@given(CANDIDATES)
def test_scores_fall_between_nothing_and_one(candidates: list[Candidate]) -> None:
    ranked = rank(QUERY, candidates, now=NOW)
    scores = [hit.score for hit in ranked]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score < 1 for score in scores)
    assert not ranked or ranked[0].score >= 0.5
    assert {hit.id for hit in ranked} <= {candidate.id for candidate in candidates}


@given(CANDIDATES, st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_makes_no_difference(candidates: list[Candidate], chance: Any) -> None:
    shuffled = chance.sample(candidates, len(candidates))
    ranked, again = (dict.fromkeys(hit.id for hit in rank(QUERY, c, now=NOW)) for c in (candidates, shuffled))
    assert ranked.keys() == again.keys()


def test_the_better_of_two_in_one_place_lends_to_the_turn_before() -> None:
    """An episode stands where its first turn does."""
    asked = unit(1, session=SESSION, seq=4, vector=0.3)
    turn, episode = unit(2, session=SESSION, seq=5, vector=0.1), unit(3, session=SESSION, seq=5, keyword=covering(0.6))
    scores = [
        {hit.id: hit.score for hit in rank(QUERY, c, now=NOW)} for c in ([asked, turn, episode], [asked, episode, turn])
    ]
    assert scores[0] == scores[1]


@pytest.mark.parametrize("query", [QUERY, LONG_QUERY], ids=["short", "long"])
def test_a_surer_answer_has_a_higher_score(query: QueryFeatures) -> None:
    sure, unsure = unit(1, keyword=covering(0.8, query), vector=0.7), unit(1, keyword=covering(0.1, query), vector=0.45)
    assert score(sure, query=query) > score(unsure, query=query) >= 0.5
