"""`GET /api/memory/search`: what the caller said, wherever they said it."""

import pytest

from flows.models import Flow
from tests.doubles import ModelServer
from tests.people import Person

FIELDS = {"kind", "id", "title", "text", "quote", "turn_ids", "session_id", "score", "legs", "occurred_at", "source"}


def found(person: Person, words: str, **more: object) -> dict[str, object]:
    response = person.api.get("/api/memory/search", params={"q": words, **more})
    assert response.status_code == 200, response.text
    return response.json()


def test_a_result_tells_what_was_said_when_and_where(bob: Person, flow: Flow, model: ModelServer) -> None:
    told = bob.says(flow, "李娜负责供应商交付，单号 AB-1203。")
    answer = found(bob, "AB-1203")
    (hit,) = answer["results"]
    assert set(hit) == FIELDS
    assert (hit["kind"], hit["id"], hit["turn_ids"]) == ("turn", told["turn_id"], [told["turn_id"]])
    assert hit["session_id"] == told["session_id"]
    assert "AB-1203" in hit["quote"]
    assert hit["source"] == flow.name
    assert 0 < hit["score"] <= 1
    assert hit["legs"]["keyword"] > 0
    assert hit["occurred_at"].endswith("Z")
    assert set(answer) == {"results", "entities", "relations", "missing", "took_ms"}
    assert answer["missing"] == []


def test_nobody_finds_the_words_of_another(bob: Person, carol: Person, flow: Flow, model: ModelServer) -> None:
    bob.says(flow, "李娜负责供应商交付，单号 AB-1203。")
    assert found(carol, "AB-1203")["results"] == []


def test_k_bounds_the_results(bob: Person, flow: Flow, model: ModelServer) -> None:
    for day in range(4):
        bob.says(flow, f"北斗项目第{day}次例会，定下第{day * 7}项风险。")
    assert len(found(bob, "北斗项目例会", k=2)["results"]) == 2


@pytest.mark.parametrize(
    "asked",
    [{}, {"q": ""}, {"q": "北斗", "k": 0}, {"q": "北斗", "k": 51}, {"q": "北斗", "user_id": 1}, {"q": "长" * 2001}],
)
def test_a_bad_request_says_what_is_wrong(bob: Person, asked: dict[str, object]) -> None:
    """An unknown filter is refused: dropped in silence it would look as if it had been obeyed."""
    response = bob.api.get("/api/memory/search", params=asked)
    assert response.status_code == 400
    assert response.json()["errors"][0]["attr"] in {"q", "k", "user_id"}


@pytest.mark.parametrize("words", ["\x00", "'; DROP TABLE memory_unit; --", "🎉", "%", "\\", "a" * 2000, "👩‍👩‍👧 家"])
def test_whatever_is_searched_for_there_is_an_answer(bob: Person, flow: Flow, words: str) -> None:
    assert bob.api.get("/api/memory/search", params={"q": words}).status_code in {200, 400}


def test_a_stranger_without_a_login_is_refused(bob: Person) -> None:
    response = bob.api.get("/api/memory/search", params={"q": "北斗"}, headers={"Authorization": ""})
    assert response.status_code == 401
