"""The events of a stream become text, thinking and tool calls, whatever an endpoint makes of the protocol (S5)."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.chunks import Assembler
from llm.errors import ModelEmpty, ModelRejected, ThinkingUsedUpTheAnswer
from llm.sse import EventDecoder
from llm.thinking import split_unopened
from llm.types import Chunk, ToolCall, Usage
from tests.doubles import chunk

STOP = chunk({}, finish_reason="stop")


def assembled(*events: Mapping[str, Any]) -> tuple[str, str, Chunk]:
    """(text, thinking, last chunk)"""
    parts = Assembler()
    chunks = [piece for piece in map(parts.feed, events) if piece]
    chunks += parts.end()
    return "".join(c.text for c in chunks), "".join(c.reasoning for c in chunks), chunks[-1]


def content(*pieces: str) -> Iterable[dict[str, Any]]:
    return [chunk({"content": piece}) for piece in pieces]


def test_an_event_without_choices_and_one_with_only_usage_are_no_error() -> None:
    parts = Assembler()
    assert parts.feed({"choices": []}) is None
    assert parts.feed({"choices": None, "usage": {"prompt_tokens": 3, "completion_tokens": 2}}) is None
    assert parts.feed({}) is None
    assert parts.usage == Usage(3, 2)


def test_usage_is_found_inside_a_choice_too_and_the_last_one_counts() -> None:
    parts = Assembler()
    parts.feed({"choices": [{"delta": {}, "usage": {"prompt_tokens": 3, "completion_tokens": 1}}]})
    parts.feed({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 9}})
    assert parts.usage == Usage(3, 9)


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_thinking_is_told_from_the_answer_under_both_names(key: str) -> None:
    assert assembled(chunk({key: "想"}), *content("答"), STOP)[:2] == ("答", "想")


@given(st.lists(st.integers(0, 40), max_size=8))
def test_think_tags_are_found_wherever_the_pieces_are_cut(cuts: list[int]) -> None:
    whole = "<think>先想 a<b </thin</think>\n\n答 <think>不是</think>"
    ends = sorted(cut for cut in cuts if cut < len(whole))
    pieces = [whole[start:end] for start, end in zip([0, *ends], [*ends, len(whole)], strict=True)]
    text, thinking, _ = assembled(*content(*pieces), STOP)
    assert (text, thinking) == ("答 <think>不是</think>", "先想 a<b </thin")


def test_an_answer_that_only_begins_like_a_tag_is_an_answer() -> None:
    assert assembled(*content("<th", "ead> 是表头"), STOP)[:2] == ("<thead> 是表头", "")
    assert assembled(*content("<th"), STOP)[:2] == ("<th", "")


def test_a_closing_tag_without_an_opening_one_ends_the_thinking_of_a_whole_text() -> None:
    assert split_unopened("想一想\n</think>\n\n答") == ("想一想", "答")
    assert split_unopened("答") == ("", "答")
    assert split_unopened("写作 <think>x</think>") == ("", "写作 <think>x</think>")


def call(**fields: Any) -> dict[str, Any]:
    function = {key: fields.pop(key) for key in ("name", "arguments") if key in fields}
    return chunk({"tool_calls": [{**fields, "function": function}]})


TWO_CALLS = (ToolCall("a", "find", '{"q":1}'), ToolCall("b", "list", "{}"))


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(
            [
                call(index=0, id="a", name="find", arguments=""),
                call(index=0, arguments='{"q"'),
                call(index=0, arguments=":1}"),
                call(index=1, id="b", name="list", arguments="{}"),
            ],
            id="as documented",
        ),
        pytest.param(
            [
                call(id="a", name="find", arguments='{"q"'),
                call(arguments=":1}"),
                call(id="b", name="list"),
            ],
            id="without index",
        ),
        pytest.param(
            [
                call(index=0, id="a", name="find", arguments='{"q":1}'),
                call(index=0, id="b", name="list", arguments="{}"),
            ],
            id="every index 0",
        ),
        pytest.param(
            [
                call(index=0, id="a", name="find", arguments='{"q"'),
                call(index=0, id="a", name="find", arguments=":1}"),
                call(index=1, id="b", name="list"),
            ],
            id="id and name repeated",
        ),
        pytest.param(
            [
                call(index=0, name="find"),
                call(index=0, id="a", arguments={"q": 1}),
                call(index=1, id="b", name="list", arguments={}),
            ],
            id="id late, arguments as an object",
        ),
    ],
)
def test_tool_calls_are_put_together(events: list[dict[str, Any]]) -> None:
    *_, last = assembled(*events, chunk({}, finish_reason="tool_calls"))
    calls = tuple(ToolCall(c.id, c.name, c.arguments.replace(" ", "")) for c in last.tool_calls)
    assert calls == TWO_CALLS
    assert last.finish_reason == "tool_calls"


def test_tool_calls_without_any_id_get_one_each() -> None:
    *_, last = assembled(call(name="find", arguments="{}"), call(name="list", arguments="{}"), STOP)
    assert [(c.id, c.name) for c in last.tool_calls] == [("call_1", "find"), ("call_2", "list")]


def test_an_answer_that_was_not_streamed_is_read_all_the_same() -> None:
    event = {"choices": [{"message": {"role": "assistant", "content": "好"}, "finish_reason": "stop"}]}
    assert assembled(event)[0] == "好"


def test_a_stream_with_nothing_in_it_is_an_error() -> None:
    with pytest.raises(ModelEmpty):
        assembled(*content("", " \n"), STOP)


def test_thinking_that_used_up_the_limit_is_named() -> None:
    """Thinking eats the cap and the answer is empty (faults 21 and 71): a failure, never an empty result."""
    with pytest.raises(ThinkingUsedUpTheAnswer):
        assembled(chunk({"reasoning_content": "想"}), chunk({}, finish_reason="length"))
    with pytest.raises(ThinkingUsedUpTheAnswer):
        assembled(*content("<think>想"), chunk({}, finish_reason="length"))


def test_an_answer_that_a_filter_withheld_is_a_refusal() -> None:
    with pytest.raises(ModelRejected):
        assembled(chunk({}, finish_reason="content_filter"))


def test_events_are_found_however_the_bytes_are_cut() -> None:
    wire = (
        'data: {"a": "项目"}\r\n\r\n: comment\n\nevent: x\ndata:{"b": 2}\n\ndata: [DONE]\n\ndata: {"c": 3}\n\n'.encode()
    )
    for size in range(1, len(wire)):
        decoder = EventDecoder()
        events = [e for at in range(0, len(wire), size) if not decoder.done for e in decoder.feed(wire[at : at + size])]
        assert events == [{"a": "项目"}, {"b": 2}]
        assert decoder.done


def test_broken_utf8_and_half_surrogates_cost_one_character_and_not_the_answer() -> None:
    decoder = EventDecoder()
    broken = b'data: {"t": "ab\xff\xe4c"}\n\n'
    half = b'data: {"t": "x\\ud83d"}\n\n'
    noise = b"data: keep-alive\n\ndata: [1]\n\ndata:\n\n"
    assert [event["t"] for event in decoder.feed(broken + noise + half)] == ["ab\ufffd\ufffdc", "x\ud83d"]


@given(st.binary(max_size=200))
def test_no_bytes_at_all_break_the_decoder(noise: bytes) -> None:
    decoder = EventDecoder()
    assert all(isinstance(event, dict) for event in [*decoder.feed(b"data: " + noise), *decoder.end()])
