"""The hot copy of a conversation in Redis (M3): its keys, what stands in them, and that PostgreSQL is the truth."""

import re
from typing import Any

import pytest

from flows.models import Flow
from memory import window
from memory.models import Conversation, Turn
from tests.doubles import Answer, ModelServer
from tests.factories import TurnFactory
from tests.memory.hot_copy import items, keys_of, memory_keys, meta, redis, said_to
from tests.people import Person

DAY = 24 * 3600
MINUTE = 60


@pytest.fixture
def session(bob: Person, flow: Flow, model: ModelServer) -> str:
    """A conversation of three turns."""
    session_id = bob.says(flow, "第一句")["session_id"]
    for words in ("第二句", "第三句"):
        bob.says(flow, words, session_id=session_id)
    return str(session_id)


def test_three_turns_leave_exactly_the_keys_of_one_session(bob: Person, flow: Flow, session: str) -> None:
    """M3: messages, meta and the index; a summary only where there is one. The user stands in literal braces."""
    stem = f"mem:{{{bob.user.pk}}}:{flow.pk}:{session}"
    assert memory_keys() == {f"{stem}:messages", f"{stem}:meta", f"mem:{{{bob.user.pk}}}:sessions"}
    assert redis().zrange(f"mem:{{{bob.user.pk}}}:sessions", 0, -1) == [f"{flow.pk}:{session}".encode()]


def test_every_other_key_has_a_prefix_of_its_own(bob: Person, session: str) -> None:
    """M3: what is no hot copy stands under `tacit:`."""
    others = {key.decode() for key in redis().keys("*")} - memory_keys()
    assert others
    assert {key for key in others if not key.startswith("tacit:")} == set()


def test_each_key_lives_as_long_as_it_should(bob: Person, flow: Flow, session: str) -> None:
    """M3: a week for messages and meta, thirty days for the summary and the index."""
    Conversation.objects.filter(pk=session).update(summary="他们谈了三件事。", revision=1)
    bob.says(flow, "第四句", session_id=session)
    keys = keys_of(session)
    assert redis().get(keys.summary).decode() == "他们谈了三件事。"
    for key, days in ((keys.messages, 7), (keys.meta, 7), (keys.summary, 30), (keys.sessions, 30)):
        assert days * DAY - MINUTE < redis().ttl(key) <= days * DAY, key


def test_a_new_turn_gives_every_key_its_whole_life_again(bob: Person, flow: Flow, session: str) -> None:
    """M3: TTLs slide."""
    keys = keys_of(session)
    for key in (keys.messages, keys.meta, keys.sessions):
        redis().expire(key, MINUTE)
    bob.says(flow, "第四句", session_id=session)
    assert all(redis().ttl(key) > 6 * DAY for key in (keys.messages, keys.meta, keys.sessions))


def test_an_item_is_plain_json_with_readable_chinese(bob: Person, session: str) -> None:
    """M3, M5: `{"role","content","ts","seq"}`, UTF-8 not escaped, times UTC with Z, the question first."""
    first = redis().lindex(keys_of(session).messages, 0)
    assert re.fullmatch(
        '\\{"role":"user","content":"第一句","ts":"\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z","seq":1\\}', first.decode()
    )
    assert [(item["role"], item["seq"]) for item in items(session)] == [
        *(("user", 1), ("assistant", 2), ("user", 3)),
        *(("assistant", 4), ("user", 5), ("assistant", 6)),
    ]


def test_the_meta_hash_tells_what_the_copy_is_of(bob: Person, flow: Flow, session: str) -> None:
    """M3: exactly seven fields, the same after building anew as after appending."""
    appended = meta(session)
    redis().flushdb()
    bob.says(flow, "第四句", session_id=session)
    rebuilt = meta(session)
    names = "flow_name created_at last_active_at message_count last_seq covers_seq revision"
    assert set(appended) == set(rebuilt) == set(names.split())
    assert appended["flow_name"] == rebuilt["flow_name"] == flow.name
    assert appended["created_at"] == rebuilt["created_at"]
    assert rebuilt["last_active_at"].endswith("Z")
    told = [
        [held[name] for name in ("message_count", "last_seq", "covers_seq", "revision")] for held in (appended, rebuilt)
    ]
    assert told == [["6", "6", "0", "0"], ["8", "8", "0", "0"]]


def test_the_list_holds_forty_messages_and_the_model_is_sent_all_of_them(
    bob: Person, flow: Flow, model: ModelServer
) -> None:
    """M3, M5: 25 turns are replayed Q1 A1 Q2 A2 …, those that fell off the list as well."""
    conversation = Conversation.objects.create(user=bob.user, flow_id=flow.pk, flow_name=flow.name, flow_version=1)
    TurnFactory.create_batch(23, conversation=conversation)
    for number in (24, 25, 26):
        model.enqueue(Answer(f"A{number}"))
        bob.says(flow, f"Q{number}", session_id=str(conversation.pk))
    replayed = [line for number in range(1, 26) for line in (f"user: Q{number}", f"assistant: A{number}")]
    assert said_to(model) == [*replayed, "user: Q26"]
    assert [item["content"] for item in items(conversation.pk)] == [
        text for number in range(7, 27) for text in (f"Q{number}", f"A{number}")
    ]


SPOILS: dict[str, Any] = {
    "another last_seq": lambda keys: redis().hset(keys.meta, "last_seq", 2),
    "another revision": lambda keys: redis().hset(keys.meta, "revision", 7),
    "no meta": lambda keys: redis().delete(keys.meta),
    "no messages": lambda keys: redis().delete(keys.messages),
    "no key at all": lambda keys: redis().flushdb(),
}


@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS.keys())
def test_a_copy_that_is_not_of_this_state_is_built_again(
    bob: Person, flow: Flow, model: ModelServer, session: str, spoil: Any
) -> None:
    """M3: neither eviction nor an old copy that came back costs a word or brings in a wrong one."""
    spoil(keys_of(session))
    if redis().exists(keys_of(session).messages):
        redis().lset(keys_of(session).messages, 0, b'{"role":"user","content":"wrong","ts":"","seq":1}')
    bob.says(flow, "第四句", session_id=session)
    said = ["第一句", "第二句", "第三句"]
    expected = [line for words in said for line in (f"user: {words}", f"assistant: {words}")]
    assert said_to(model) == [*expected, "user: 第四句"]
    assert [item["content"] for item in items(session)[::2]] == [*said, "第四句"]


def test_a_flush_between_any_two_turns_loses_nothing(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M3: Redis may be flushed at any moment."""
    session = None
    for number in range(1, 6):
        redis().flushdb()
        model.enqueue(Answer(f"A{number}"))
        session = bob.says(flow, f"Q{number}", session_id=session)["session_id"]
    assert said_to(model) == ["user: Q1", "assistant: A1", "user: Q2", "assistant: A2", "user: Q3", "assistant: A3",
                              "user: Q4", "assistant: A4", "user: Q5"]  # fmt: skip
    messages = bob.api.get(f"/api/memory/sessions/{session}").json()["messages"]
    assert [m["content"] for m in messages] == [text for n in range(1, 6) for text in (f"Q{n}", f"A{n}")]


def test_a_late_write_does_not_bring_an_erased_session_back(bob: Person, session: str) -> None:
    """M10: both scripts refuse a session that was erased, whichever of its turns is written."""
    conversation = Conversation.objects.get(pk=session)
    turns = list(Turn.objects.filter(conversation=session).order_by("seq"))
    assert bob.api.delete(f"/api/memory/sessions/{session}").status_code == 204
    for turn in turns:
        window.append(conversation, turn, window.items_of(turn))
        window.replace(conversation, [turn], last_seq=turn.seq + 1, message_count=2)
    assert memory_keys() == set()


def test_an_appended_turn_that_does_not_follow_drops_the_copy(bob: Person, session: str) -> None:
    """M3: the one writer is a compare-and-append; a mismatch drops the copy instead of mending it."""
    conversation = Conversation.objects.get(pk=session)
    turn = TurnFactory(conversation=conversation, seq=9)
    window.append(conversation, turn, window.items_of(turn))
    assert memory_keys() == {keys_of(session).sessions}


def test_a_session_that_is_gone_leaves_the_index_when_it_is_read(bob: Person, session: str) -> None:
    """M3: dead members of the index are pruned on read."""
    index = keys_of(session).sessions
    redis().zadd(index, {"1:0b6c3b8e-0000-4000-8000-000000000000": 1, f"9:{session}": 2**40})
    assert bob.api.get("/api/memory/sessions").status_code == 200
    assert [member.decode().split(":")[1] for member in redis().zrange(index, 0, -1)] == [session]
    assert redis().zcard(index) == 1
