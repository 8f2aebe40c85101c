"""One answer out of several attempts, against a real server that misbehaves in every known way (S5)."""

import asyncio
import logging
import threading
from collections import Counter
from contextlib import aclosing
from dataclasses import replace

import pytest
from pytest_django import Settings

import llm
from llm import attempts, errors
from llm.deadlines import Clock
from llm.profile import Profile
from llm.types import ToolCall, Usage
from tests.doubles import DONE, Answer, ModelServer, chunk
from tests.llm.asking import chunks, question, text_of

REJECTED = {"message": "no", "type": "invalid_request_error"}


def hurry(settings: Settings, **seconds: float) -> None:
    settings.LLM_DEADLINES = {"connect": 5, "first_token": 30, "idle": 30, "total": 60, **seconds}


async def test_an_answer_comes_in_its_pieces_with_thinking_tool_calls_and_usage(
    server: ModelServer, profile: Profile
) -> None:
    call = {"id": "a", "function": {"name": "find", "arguments": "{}"}}
    server.enqueue(Answer(["你", "好"], reasoning=["想"], tool_calls=[call], finish_reason="tool_calls"))
    pieces = await chunks(profile)
    assert [(piece.text, piece.reasoning) for piece in pieces] == [("", "想"), ("你", ""), ("好", ""), ("", "")]
    assert pieces[-1].tool_calls == (ToolCall("a", "find", "{}"),)
    assert pieces[-1].usage == Usage(11, 7)
    assert (pieces[-1].finish_reason, pieces[-1].model) == ("tool_calls", profile.model)


async def test_usage_is_estimated_and_marked_when_the_endpoint_counts_nothing(
    server: ModelServer, profile: Profile
) -> None:
    server.enqueue(Answer(["项目", "进度"], reasoning=["想"], usage=None))
    assert (await chunks(profile))[-1].usage == Usage(4 + 2, 5, estimated=True)


@pytest.mark.parametrize("status", [429, 500, 502, 503])
async def test_a_busy_or_failing_endpoint_is_asked_again(server: ModelServer, profile: Profile, status: int) -> None:
    server.enqueue(Answer(status=status, headers={"Retry-After": "0"}), Answer(status=status), Answer("终于"))
    assert text_of(await chunks(profile)) == "终于"
    assert len(server.chats) == 3


async def test_after_its_retries_the_error_says_that_the_endpoint_is_busy(
    server: ModelServer, profile: Profile, settings: Settings
) -> None:
    settings.LLM_RETRIES = 1
    server.enqueue(*[Answer(status=429, headers={"Retry-After": "0"})] * 3)
    with pytest.raises(errors.ModelRateLimited) as caught:
        await chunks(profile)
    assert caught.value.status == 429
    assert len(server.chats) == 2


async def test_an_endpoint_that_asks_for_a_long_pause_is_not_waited_for(server: ModelServer, profile: Profile) -> None:
    server.enqueue(Answer(status=429, headers={"Retry-After": "3600"}))
    with pytest.raises(errors.ModelRateLimited) as caught:
        await chunks(profile)
    assert caught.value.retry_after == 3600
    assert len(server.chats) == 1


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer(status=401), errors.ModelMisconfigured),
        (Answer(status=404), errors.ModelMisconfigured),
        (Answer(status=400, error=REJECTED), errors.ModelRejected),
        (Answer(status=400, error={"code": "context_length_exceeded"}), errors.ContextTooLong),
        (Answer(status=429, error={"code": "insufficient_quota"}), errors.QuotaUsedUp),
        (Answer(headers={"Content-Type": "text/html"}), errors.ModelMisconfigured),
    ],
)
async def test_what_asking_again_cannot_mend_is_asked_once(
    server: ModelServer, profile: Profile, answer: Answer, error: type[Exception]
) -> None:
    server.enqueue(answer)
    with pytest.raises(error):
        await chunks(profile)
    assert len(server.chats) == 1


async def test_a_connection_that_breaks_before_the_first_piece_is_tried_again(
    server: ModelServer, profile: Profile
) -> None:
    server.enqueue(Answer(["前", "后"], cut_after=0), Answer("好"))
    assert text_of(await chunks(profile)) == "好"


async def test_once_a_piece_is_out_nothing_is_tried_again(server: ModelServer, profile: Profile) -> None:
    """A second attempt would say the beginning twice."""
    other = replace(profile, name="other")
    server.enqueue(Answer(["前", "后"], cut_after=1))
    stream = llm.stream(question(), profile=replace(profile, fallback=other))
    assert (await anext(stream)).text == "前"
    with pytest.raises(errors.ModelUnavailable):
        await anext(stream)
    assert len(server.chats) == 1


async def test_a_stream_that_ends_without_being_finished_is_a_failure(server: ModelServer, profile: Profile) -> None:
    server.enqueue(Answer(events=[chunk({"content": "前"})]))
    with pytest.raises(errors.ModelUnavailable):
        await chunks(profile)


async def test_an_answer_is_whole_even_when_the_goodbye_is_lost(server: ModelServer, profile: Profile) -> None:
    server.enqueue(Answer(events=[chunk({"content": "好"}), chunk({}, finish_reason="stop")], cut_after=2))
    assert text_of(await chunks(profile)) == "好"


async def test_an_empty_stream_is_tried_again_and_then_an_error(server: ModelServer, profile: Profile) -> None:
    server.enqueue(Answer(""), Answer("好"))
    assert text_of(await chunks(profile)) == "好"
    server.enqueue(*[Answer("")] * 3)
    with pytest.raises(errors.ModelEmpty):
        await chunks(profile)


async def test_the_fallback_answers_when_the_model_cannot_begin(server: ModelServer, profile: Profile) -> None:
    other = replace(profile, name="other", model="smaller")
    server.enqueue(Answer(status=401), Answer("我来"))
    pieces = await chunks(replace(profile, fallback=other))
    assert (text_of(pieces), pieces[-1].model) == ("我来", "smaller")
    assert [request.body["model"] for request in server.chats] == [profile.model, "smaller"]


async def test_when_no_model_can_begin_the_first_ones_error_is_told(server: ModelServer, profile: Profile) -> None:
    server.enqueue(Answer(status=401), Answer(status=400, error=REJECTED))
    with pytest.raises(errors.ModelMisconfigured):
        await chunks(replace(profile, fallback=replace(profile, name="other")))


@pytest.mark.parametrize(
    ("hold_after", "limit"), [(0, "first_token"), (1, "idle"), (1, "total")], ids=["first", "idle", "total"]
)
async def test_a_silent_model_is_given_up(
    server: ModelServer, profile: Profile, settings: Settings, hold_after: int, limit: str
) -> None:
    hurry(settings, **{limit: 0.1})
    server.enqueue(Answer(["一", "二"], hold=threading.Event(), hold_after=hold_after))
    with pytest.raises(errors.ModelTimeout):
        await chunks(profile)
    assert len(server.chats) <= 1


async def test_a_model_that_is_given_up_is_stopped(server: ModelServer, profile: Profile, settings: Settings) -> None:
    hurry(settings, idle=0.1)
    server.enqueue(Answer(["一", "二"], hold=threading.Event(), hold_after=1))
    with pytest.raises(errors.ModelTimeout):
        await chunks(profile)
    assert await asyncio.to_thread(server.closed_early.wait, 10)


async def test_signs_of_life_without_a_word_do_not_count_as_an_answer(
    server: ModelServer, profile: Profile, settings: Settings
) -> None:
    hurry(settings, first_token=0.2)
    signs = [b": still here\n\n", chunk({"role": "assistant", "content": ""}), {"choices": []}] * 1000
    server.enqueue(Answer(events=[*signs, DONE], delay=0.02))
    with pytest.raises(errors.ModelTimeout):
        await chunks(profile)


async def test_a_slow_reader_does_not_use_up_the_patience_with_the_model(settings: Settings) -> None:
    hurry(settings, first_token=0.05, idle=0.05)
    clock = Clock()
    await asyncio.sleep(0.1)
    assert await clock.within(asyncio.sleep(0, "一")) == "一"
    clock.piece()
    await asyncio.sleep(0.1)
    assert await clock.within(asyncio.sleep(0, "二")) == "二"


async def test_a_stopped_answer_reaches_the_model_at_once(server: ModelServer, profile: Profile) -> None:
    """A stop ends the request (fault 20 of sessions)."""
    server.enqueue(Answer(["一", "二"], hold=threading.Event(), hold_after=1))
    async with aclosing(llm.stream(question(), profile=profile)) as stream:
        assert (await anext(stream)).text == "一"
    assert await asyncio.to_thread(server.closed_early.wait, 10)
    assert server.chats[0].closed_early


async def test_a_cancelled_task_ends_its_request(server: ModelServer, profile: Profile) -> None:
    server.enqueue(Answer(hold=threading.Event()))
    task = asyncio.create_task(chunks(profile))
    await asyncio.to_thread(server.asked.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(server.closed_early.wait, 10)


async def test_an_error_in_the_middle_of_a_stream_is_an_error(server: ModelServer, profile: Profile) -> None:
    server.enqueue(Answer(events=[chunk({"content": "前"}), {"error": {"message": "overloaded", "code": 503}}]))
    with pytest.raises(errors.ModelUnavailable):
        await chunks(profile)


async def test_neither_key_nor_prompt_nor_the_endpoints_words_are_in_errors_or_logs(
    server: ModelServer, profile: Profile, caplog: pytest.LogCaptureFixture
) -> None:
    secrets = ("sk-canary", "私密的问题", "words of the endpoint")
    said = {"message": f"{secrets[2]}: Incorrect API key provided: {secrets[0]} for {secrets[1]}"}
    server.enqueue(*[Answer(status=status, error=said) for status in (500, 429, 401)])
    caplog.set_level(logging.DEBUG)
    with pytest.raises(errors.ModelMisconfigured) as caught:
        await chunks(replace(profile, api_key=secrets[0]), question(secrets[1]))
    told = f"{caught.value!r} {caught.value.detail} {caught.value.__cause__!r} {caplog.text} {profile!r}"
    assert not [secret for secret in secrets if secret in told]
    assert caplog.text.count("model call failed") == 3


async def test_the_pause_before_a_retry_grows_and_varies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "FIRST_DELAY", 1.0)
    pauses: list[float] = []

    async def recorded(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(attempts.asyncio, "sleep", recorded)
    tried = attempts._Attempts(Profile(name="p"))
    for _ in range(2):
        await tried.recover(errors.ModelUnavailable())
    assert 0.75 <= pauses[0] <= 1 <= 1.5 <= pauses[1] <= 2
    with pytest.raises(errors.ModelUnavailable):
        await tried.recover(errors.ModelUnavailable())


async def test_two_hundred_streams_at_once_do_not_mix(server: ModelServer, profile: Profile) -> None:
    texts = [f"第 {number} 个问题 " * 5 for number in range(200)]
    answers = await asyncio.gather(*(chunks(profile, question(text)) for text in texts))
    assert [text_of(answer) for answer in answers] == texts


def test_each_event_loop_has_connections_of_its_own(server: ModelServer) -> None:
    async def asked() -> str:
        try:
            return text_of(await chunks(Profile(name="p", base_url=server.base_url, model="m")))
        finally:
            await llm.aclose()

    assert [asyncio.run(asked()) for _ in range(2)] == ["你好", "你好"]


async def test_a_block_of_many_events_leaves_room_for_everybody_else(server: ModelServer, profile: Profile) -> None:
    """A process that is late gets hundreds of events at once; the other chats on its loop must not wait for them."""
    rounds = 0

    async def others() -> None:
        nonlocal rounds
        while True:
            await asyncio.sleep(0)
            rounds += 1

    whole = b"".join(Answer(["字"] * 300).stream())
    server.enqueue(Answer(events=[whole]))
    beside = asyncio.create_task(others())
    try:
        async with aclosing(llm.stream(question(), profile=profile)) as stream:
            seen = Counter([rounds async for _ in stream])
    finally:
        beside.cancel()
    assert seen.total() == 301
    assert max(seen.values()) < 20  # of about 300 in one block
