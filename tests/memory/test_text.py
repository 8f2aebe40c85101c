"""Text survives byte for byte, from the client to the model and back (M5)."""

import pytest

from flows.models import Flow
from memory.models import Turn
from tests.doubles import DONE, Answer, ModelServer
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
UNSAFE = {
    "lone surrogate": ("\\ud83d半个", "\ufffd半个"),
    "NUL": ("a\\u0000b", "ab"),
    "reversed pair": ("\\ude00\\ud83d", "\ufffd\ufffd"),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_text_is_the_same_everywhere(bob: Person, flow: Flow, model: ModelServer, text: str) -> None:
    """M5, S2: in the prompts, the answers, both stores and the API; over a socket cut into single characters."""
    model.enqueue(Answer(text), Answer(list(text)))
    said = bob.says(flow, text)
    assert said["output"] == text
    assert said_to(model) == [f"user: {text}"]
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input=text, session_id=said["session_id"])
        events = socket.to_end()
    assert text_of(events) == events[-1]["output"] == text
    assert said_to(model) == [f"user: {text}", f"assistant: {text}", f"user: {text}"]
    assert [(turn.input, turn.output) for turn in Turn.objects.order_by("seq")] == [(text, text), (text, text)]
    assert [item["content"] for item in items(said["session_id"])] == [text] * 4
    messages = bob.api.get(f"/api/memory/sessions/{said['session_id']}").json()["messages"]
    assert [message["content"] for message in messages] == [text] * 4


@pytest.mark.parametrize(("escaped", "safe"), UNSAFE.values(), ids=UNSAFE.keys())
def test_what_no_store_can_hold_is_made_safe_at_the_edge(
    bob: Person, flow: Flow, model: ModelServer, escaped: str, safe: str
) -> None:
    """M5: over REST and over a socket alike."""
    with bob.socket(flow.pk) as socket:
        socket.connection.send(f'{{"type": "turn.start", "input": "{escaped}"}}')
        assert socket.receive()["type"] == "turn.started"
        assert socket.to_end()[-1]["output"] == safe
    json = {"Content-Type": "application/json"}
    said = f'{{"input": "{escaped}", "memory": false}}'  # else it would be recalled
    answer = bob.api.post(f"/api/flows/{flow.pk}/execute", content=said, headers=json)
    assert answer.json()["output"] == safe
    assert [turn.input for turn in Turn.objects.all()] == [safe, safe]


def test_a_model_that_sends_half_characters_is_made_safe_too(bob: Person, flow: Flow, model: ModelServer) -> None:
    """M5: the answer is saved and sent whatever the model wrote."""
    halves = [
        b'data: {"choices": [{"index": 0, "delta": {"content": "%b"}}]}\n\n' % part
        for part in (b"a\\ud83d", b"\\u0000b")
    ]
    model.enqueue(Answer(events=[*halves, DONE]))
    said = bob.says(flow, "你好")
    assert said["output"] == "a\ufffdb"
    assert Turn.objects.get().output == "a\ufffdb"
