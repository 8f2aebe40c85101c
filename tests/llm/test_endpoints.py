"""Endpoints that take the protocol their own way, and addresses that are none (S5)."""

from dataclasses import replace

import pytest

from llm import errors
from llm.profile import Profile
from llm.types import Usage
from tests.doubles import DONE, Answer, ModelServer, chunk
from tests.llm.asking import chunks, text_of


def limit_refused(field: str, other: str) -> Answer:
    message = f"Unsupported parameter: '{field}' is not supported with this model. Use '{other}' instead."
    return Answer(status=400, error={"message": message, "param": field, "code": "unsupported_parameter"})


@pytest.mark.parametrize(
    ("field", "other"), [("max_tokens", "max_completion_tokens"), ("max_completion_tokens", "max_tokens")]
)
async def test_the_name_of_the_output_limit_is_learnt_once_for_the_process(
    server: ModelServer, profile: Profile, field: str, other: str
) -> None:
    server.enqueue(limit_refused(field, other))
    picky = replace(profile, output_limit_field=field)  # type: ignore[arg-type]  # a parameter is a plain string
    await chunks(picky)
    await chunks(picky)
    assert [(field in chat.body, other in chat.body) for chat in server.chats] == [
        (True, False),
        (False, True),
        (False, True),
    ]


async def test_an_endpoint_that_refuses_to_count_is_asked_without_it(server: ModelServer, profile: Profile) -> None:
    server.enqueue(
        Answer(status=400, error={"message": "Unrecognized request argument supplied: stream_options"}),
        Answer("好", usage=None),
    )
    pieces = await chunks(profile)
    assert pieces[-1].usage is not None
    assert pieces[-1].usage.estimated
    assert "stream_options" not in server.chats[1].body


async def test_a_refusal_that_the_other_name_does_not_mend_is_told_and_nothing_is_learnt(
    server: ModelServer, profile: Profile
) -> None:
    too_large = Answer(status=400, error={"message": "max_tokens is too large: the most is 16"})
    server.enqueue(too_large, too_large, Answer("好"))
    with pytest.raises(errors.ModelRejected):
        await chunks(profile)
    await chunks(profile)
    assert "max_tokens" in server.chats[-1].body


async def test_an_endpoint_that_does_not_stream_is_read_all_the_same(server: ModelServer, profile: Profile) -> None:
    whole = Answer("整段", reasoning="想").whole()
    server.enqueue(Answer(events=[whole], headers={"Content-Type": "application/json"}))
    pieces = await chunks(profile)
    assert (text_of(pieces), pieces[-1].usage) == ("整段", Usage(11, 7))


async def test_broken_bytes_in_the_stream_cost_one_character(server: ModelServer, profile: Profile) -> None:
    broken = b'data: {"choices":[{"delta":{"content":"ab\xffc"}}]}\n\n'
    server.enqueue(Answer(events=[broken, b"data: {oops\n\n", chunk({}, finish_reason="stop"), DONE]))
    assert text_of(await chunks(profile)) == "ab\ufffdc"


async def test_events_of_another_protocol_are_passed_over(server: ModelServer, profile: Profile) -> None:
    odd = [
        {"choices": [7]},
        {"choices": {"a": 1}},
        {"choices": [{"delta": "x"}]},
        {"choices": [{"delta": {"tool_calls": 3}}]},
    ]
    server.enqueue(Answer(events=[*odd, chunk({"content": "好"}), chunk({}, finish_reason="stop"), DONE]))
    assert text_of(await chunks(profile)) == "好"


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("http://127.0.0.1:9/v1", errors.ModelUnavailable),
        ("127.0.0.1:9/v1", errors.ModelMisconfigured),
        ("http://host:port/v1", errors.ModelMisconfigured),
    ],
)
async def test_an_address_where_nobody_answers_is_an_error_of_ours(
    profile: Profile, address: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await chunks(replace(profile, base_url=address))


@pytest.mark.parametrize("key", ["钥匙", "two\nlines"])
async def test_a_key_that_fits_no_header_is_told_as_a_wrong_setup(profile: Profile, key: str) -> None:
    with pytest.raises(errors.ModelMisconfigured):
        await chunks(replace(profile, api_key=key))
