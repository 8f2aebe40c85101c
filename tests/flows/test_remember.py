"""L8: "记住：…" and "remember that …" store the person's own words at once, pinned."""

import pytest

from flows.models import Flow
from memory.models import Episode, EpisodeOrigin
from memory.remembering import asked_to_remember
from tests.doubles import ModelServer
from tests.factories import linear_definition, make_flow
from tests.people import Person
from tests.waiting import eventually


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("记住：我对花生过敏", "我对花生过敏"),
        ("请帮我记住，周五例会改到三点。", "周五例会改到三点。"),
        ("麻烦您记一下：AB-1203 由李娜跟", "AB-1203 由李娜跟"),
        ("Remember that the Apollo launch moved to 3 May.", "the Apollo launch moved to 3 May."),
        ("please remember: I prefer short answers", "I prefer short answers"),
        ("记住：第一行\n第二行", "第一行\n第二行"),
    ],
)
def test_what_is_asked_for_is_kept_verbatim(words: str, kept: str) -> None:
    assert asked_to_remember(words) == kept


@pytest.mark.parametrize(
    "words", ["记住了吗？", "你还记得李娜吗", "Do you remember that day?", "记住", "Remember me?", "我记住了"]
)
def test_a_question_about_memory_stores_nothing(words: str) -> None:
    assert asked_to_remember(words) is None


def remembered(person: Person) -> list[Episode]:
    return list(Episode.objects.of(person.user).filter(origin=EpisodeOrigin.SAID))


def test_it_is_stored_pinned_and_recalled_in_the_next_conversation(
    bob: Person, carol: Person, flow: Flow, model: ModelServer
) -> None:
    told = bob.says(flow, "记住：客户代号一律写成“青松”。")
    eventually(lambda: remembered(bob))
    (episode,) = remembered(bob)
    assert (episode.summary, episode.pinned) == ("客户代号一律写成“青松”。", True)
    assert [str(turn.pk) for turn in episode.turns.all()] == [told["turn_id"]]
    asked = bob.says(make_flow(linear_definition()), "客户代号怎么写？")
    assert [used["episode_id"] for used in asked["memory_used"]["episodes"]] == [str(episode.pk)]
    assert "(Summary: 客户代号一律写成“青松”。)" in model.chats[-1].body["messages"][-1]["content"]
    assert carol.says(flow, "客户代号怎么写？")["memory_used"]["episodes"] == []


def test_with_memory_off_nothing_is_stored(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M11."""
    bob.says(flow, "记住：我对花生过敏", memory=False)
    bob.says(flow, "记住：周五例会三点")
    eventually(lambda: remembered(bob))
    assert [episode.summary for episode in remembered(bob)] == ["周五例会三点"]


def test_secrets_are_kept_out_even_when_asked_for(bob: Person, flow: Flow, model: ModelServer) -> None:
    """L11."""
    bob.says(flow, "记住：我的身份证是11010519491231002X")
    eventually(lambda: remembered(bob))
    assert remembered(bob)[0].summary == "我的身份证是[redacted id]"


def test_it_goes_with_its_conversation(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M10: pinned or not."""
    session = bob.says(flow, "记住：我对花生过敏")["session_id"]
    eventually(lambda: remembered(bob))
    report = bob.api.post("/api/memory/erase", json={"scope": "session", "session_id": session}).json()
    assert report["removed"]["episodes"] == 1
    assert remembered(bob) == []
