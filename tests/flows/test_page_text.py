"""What a page says under an answer (M8, M9)."""

import pytest

from flows.page_text import cut_notes, missing_notes, notes
from memory.models import Turn, TurnStatus


@pytest.mark.parametrize(
    ("used", "named"),
    [
        ({}, []),
        ({"dropped_messages": 0, "words_cut": False}, []),
        ({"dropped_messages": 3, "words_cut": False}, ["dropped_messages"]),
        ({"dropped_messages": 3, "words_cut": True}, ["dropped_messages", "words_cut"]),
    ],
)
def test_an_answer_tells_what_the_budget_kept_from_the_model(used: dict[str, int], named: list[str]) -> None:
    turn = Turn(status=TurnStatus.COMPLETE, memory_used={"budget": used})
    assert notes(turn) == [cut_notes()[name] for name in named]


def test_what_was_out_of_reach_is_told_once() -> None:
    turn = Turn(status=TurnStatus.COMPLETE, memory_used={"missing": ["new_store", "another_store"]})
    assert notes(turn) == [missing_notes()["other"]]
