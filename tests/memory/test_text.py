"""Text survives byte for byte, from the client to the model and back (M5)."""

import json
from typing import Any

import pytest

from flows.models import Flow
from memory.models import Turn
from tests.doubles import Answer, ModelServer
from tests.memory.hot_copy import items, said_to
from tests.people import Person, text_of

TEXTS = {
    "Chinese": "项目a的进度，如何？「繁體」",
    "emoji of several code points": "👨‍👩‍👧‍👦 🇨🇳 👍🏽",
    "right to left": "مرحبا \u200fשלום\u202b نص \u202c",
    "four bytes": "𠮷野家 𝄞 \U0010ffff",
    "blanks at the ends": " \t 两边有空格 \n\n",
    "line ends": "a\r\nb\rc\u2028d\u2029e\x85f",
    "combining marks": "e\u0301 é Å Å",
    "control characters": "\x01\x1b[31m\x7f",
    "markup": "<script>alert('x')</script> {{start.input}} %s \\u4f60 ${x}",
    "looks like an event": "data: {}\n\nid: 7\nevent: turn.completed",
}
UNSAFE = {"lone surrogate": "\\ud83d半个", "NUL": "a\\u0000b", "reversed pair": "\\ude00\\ud83d"}
MADE_SAFE = ["\ufffd半个", "ab", "\ufffd\ufffd"]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_text_is_the_same_everywhere(bob: Person, flow: Flow, model: ModelServer, text: str) -> None:
    """M5: in the prompt, the answer, both stores, the API, and the next prompt."""
    model.enqueue(Answer(text))
    said = bob.says(flow, text)
    assert said["output"] == text
    assert said_to(model) == [f"user: {text}"]
    turn = Turn.objects.get(pk=said["turn_id"])
    assert (turn.input, turn.output) == (text, text)
    assert [item["content"] for item in items(said["session_id"])] == [text, text]
    messages = bob.api.get(f"/api/memory/sessions/{said['session_id']}").json()["messages"]
    assert [message["content"] for message in messages] == [text, text]
    bob.says(flow, "再来", session_id=said["session_id"])
    assert said_to(model)[:2] == [f"user: {text}", f"assistant: {text}"]


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_text_is_the_same_over_a_socket(bob: Person, flow: Flow, model: ModelServer, text: str) -> None:
    """M5, S2: cut into single characters."""
    model.enqueue(Answer(list(text)))
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input=text)
        events = socket.to_end()
    assert text_of(events) == events[-1]["output"] == text
    assert Turn.objects.get().input == text


@pytest.mark.parametrize(("escaped", "safe"), zip(UNSAFE.values(), MADE_SAFE, strict=True), ids=UNSAFE.keys())
def test_what_no_store_can_hold_is_made_safe_at_the_edge(
    bob: Person, flow: Flow, model: ModelServer, escaped: str, safe: str
) -> None:
    """M5: over REST and over a socket alike."""
    body = f'{{"type": "turn.start", "input": "{escaped}"}}'
    with bob.socket(flow.pk) as socket:
        socket.connection.send(body)
        assert socket.to_end()[-1]["output"] == safe
    headers = {"Content-Type": "application/json"}
    rest: Any = json.loads(body) and body.replace('"type": "turn.start", ', "")
    answer = bob.api.post(f"/api/flows/{flow.pk}/execute", content=rest, headers=headers)
    assert answer.json()["output"] == safe
    assert [turn.input for turn in Turn.objects.all()] == [safe, safe]


def test_a_model_that_sends_half_characters_is_made_safe_too(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M5: the answer is saved and sent whatever the model wrote."""
    model.enqueue(Answer(["好\ud83d", "\0的"]))
    said = bob.says(flow, "你好")
    assert said["output"] == "好\ufffd的"
    assert Turn.objects.get().output == "好\ufffd的"
