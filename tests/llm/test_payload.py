"""What is posted to an endpoint, what it refuses, and what its refusals mean (S5)."""

from typing import Any

import pytest

from llm import errors, quirks
from llm.payload import payload
from llm.profile import Profile
from llm.refusals import refusal, refusal_in_stream, seconds_to_wait
from llm.types import ChatRequest, Message, ToolCall, ToolSpec
from tests.llm.asking import question

PLAIN = Profile(name="p", model="m", max_output_tokens=500)


def profile(**fields: Any) -> Profile:
    return Profile(name="p", model="m", max_output_tokens=500, **fields)


def test_a_plain_request_streams_asks_for_usage_and_caps_the_answer() -> None:
    assert payload(question(), PLAIN) == {
        "model": "m",
        "messages": [{"role": "user", "content": "你好"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 500,
    }


def test_the_smaller_of_both_limits_is_sent_under_the_name_that_the_model_takes() -> None:
    newer = profile(output_limit_field="max_completion_tokens")
    assert payload(question(max_tokens=80), newer)["max_completion_tokens"] == 80
    assert payload(question(max_tokens=8_000), newer)["max_completion_tokens"] == 500
    assert "max_tokens" not in payload(question(), newer)


@pytest.mark.parametrize(
    ("key", "off"),
    [
        ("enable_thinking", {"enable_thinking": False}),
        ("chat_template_kwargs", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("thinking", {"thinking": {"type": "disabled"}}),
        ("", {}),
    ],
)
def test_thinking_is_switched_where_the_model_has_its_switch(key: Any, off: dict[str, Any]) -> None:
    asked = payload(question(thinking=False), profile(thinking_key=key))
    assert asked == payload(question(), PLAIN) | off
    assert payload(question(), profile(thinking_key=key)) == payload(question(), PLAIN)


def test_extra_fields_of_a_profile_are_sent_and_merged_with_its_thinking_switch() -> None:
    extra = {"top_k": 20, "chat_template_kwargs": {"lang": "zh"}}
    body = payload(question(thinking=True), profile(thinking_key="chat_template_kwargs", extra_body=extra))
    assert body["top_k"] == 20
    assert body["chat_template_kwargs"] == {"lang": "zh", "enable_thinking": True}


@pytest.mark.parametrize(
    ("replay", "sent"), [("never", [False, False]), ("with_tools", [True, False]), ("always", [True, True])]
)
def test_thinking_goes_back_to_the_model_as_its_profile_says(replay: Any, sent: list[bool]) -> None:
    """Newer models want it inside tool rounds, older ones refuse it (fault 64)."""
    call = ToolCall("a", "find", "{}")
    messages = (
        Message("user", "问"),
        Message("assistant", "", tool_calls=(call,), reasoning="想"),
        Message("tool", "果", tool_call_id="a"),
        Message("assistant", "答", reasoning="又想"),
        Message("user", "再问"),
    )
    body = payload(ChatRequest(messages), profile(reasoning_replay=replay))
    assistant = [message for message in body["messages"] if message["role"] == "assistant"]
    assert ["reasoning_content" in message for message in assistant] == sent


def test_tools_and_a_schema_are_sent_in_the_protocols_words() -> None:
    schema = {"type": "object", "properties": {}}
    body = payload(question(tools=(ToolSpec("find", "finds", schema),), json_schema=schema, temperature=0.0), PLAIN)
    assert body["tools"][0]["function"] == {"name": "find", "description": "finds", "parameters": schema}
    assert body["response_format"]["json_schema"]["schema"] == schema
    assert body["temperature"] == 0.0


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("Unsupported parameter: 'max_tokens' is not supported with this model.", "max_tokens"),
        ("Unrecognized request argument supplied: stream_options", "stream_options"),
        ("'temperature' does not support 0.2 with this model. Only the default (1) value is supported.", "temperature"),
        ("the image is too large", None),
        ("max_completion_tokens", None),
    ],
)
def test_the_field_that_an_error_speaks_of_is_recognised(message: str, field: str | None) -> None:
    body = payload(question(temperature=0.2), PLAIN)
    assert quirks.refused_field(message, body, frozenset()) == field


@pytest.mark.parametrize(
    "message",
    [
        "registry.example/library/small does not support tools",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "Function calling is not enabled for this model",
    ],
)
def test_a_model_that_knows_no_tools_is_asked_without_them(message: str) -> None:
    """S5: but once it has called one, such an error is about something else."""
    spec = ToolSpec("find", "finds", {"type": "object", "properties": {}})
    body = payload(question(tools=(spec,)), PLAIN)
    assert quirks.refused_field(message, body, frozenset()) == "tools"
    assert "tools" not in quirks.without(body, frozenset({"tools"}))
    called = Message("assistant", "", tool_calls=(ToolCall("a", "find", "{}"),))
    messages = (Message("user", "问"), called, Message("tool", "果", tool_call_id="a"))
    later = payload(ChatRequest(messages, tools=(spec,)), PLAIN)
    assert quirks.refused_field(message, later, frozenset()) is None


def test_a_field_is_not_given_up_twice_nor_exchanged_back() -> None:
    body = quirks.without(payload(question(), PLAIN), frozenset({"max_tokens"}))
    assert body["max_completion_tokens"] == 500
    assert quirks.refused_field("max_completion_tokens is wrong", body, frozenset({"max_tokens"})) is None


@pytest.mark.parametrize(
    ("status", "said", "error"),
    [
        (401, "", errors.ModelMisconfigured),
        (403, "", errors.ModelMisconfigured),
        (404, "The model `x` does not exist", errors.ModelMisconfigured),
        (400, "{'code': 'model_not_found'}", errors.ModelMisconfigured),
        (302, "", errors.ModelMisconfigured),
        (402, "Insufficient Balance", errors.QuotaUsedUp),
        (429, "{'code': 'insufficient_quota'}", errors.QuotaUsedUp),
        (429, "slow down", errors.ModelRateLimited),
        (500, "", errors.ModelUnavailable),
        (503, "", errors.ModelUnavailable),
        (400, "This model's maximum context length is 8192 tokens", errors.ContextTooLong),
        (400, "the request exceeds the available context size", errors.ContextTooLong),
        (400, "Range of input length should be [1, 30720]", errors.ContextTooLong),
        (400, "输入超长", errors.ContextTooLong),
        (413, "", errors.ModelRejected),
        (422, "messages: field required", errors.ModelRejected),
    ],
)
def test_a_refusal_becomes_the_error_that_says_its_remedy(status: int, said: str, error: type[Exception]) -> None:
    assert type(refusal(status, said)) is error


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ({"message": "overloaded", "code": 503}, errors.ModelUnavailable),
        ({"message": "slow down", "code": "429"}, errors.ModelRateLimited),
        ({"message": "maximum context length is 10", "code": None}, errors.ContextTooLong),
        ("went wrong", errors.ModelUnavailable),
    ],
)
def test_an_error_inside_a_stream_becomes_one_of_ours(error: object, expected: type[Exception]) -> None:
    assert type(refusal_in_stream(error)) is expected


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("3", 3.0), ("0.5", 0.5), ("-1", 0.0), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0), ("soon", None)],
)
def test_retry_after_is_read_as_seconds_and_as_a_date(value: str, seconds: float | None) -> None:
    assert seconds_to_wait({"retry-after": value}) == seconds
    assert seconds_to_wait({}) is None


def test_every_error_has_a_code_and_a_sentence() -> None:
    codes = {
        "model_unavailable", "model_timeout", "model_rate_limited", "model_rejected", "model_misconfigured",
        "model_empty", "context_too_long", "embedding_mismatch",
    }  # fmt: skip
    classes = [errors.ProviderError, *errors.ProviderError.__subclasses__()]
    assert {cls.code for cls in classes[1:]} == codes
    assert all(str(cls.detail).endswith((".", "。")) for cls in classes[1:])
