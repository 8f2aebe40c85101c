"""Every provider keeps the contract of `llm.base` (S5, S6): the demo model, and any endpoint over HTTP."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest
from pytest_django import Settings

import llm
from llm.base import provider
from llm.deadlines import Clock
from llm.errors import ModelRejected, ModelTimeout
from llm.profile import OFFLINE, Profile
from llm.types import ChatRequest, Chunk, Message
from tests.doubles import MODEL, ModelServer

QUESTION = ChatRequest((Message("user", "请记住：项目 AB-1203 的负责人是王小明，预算四十万。😀"),))


@pytest.fixture(params=["offline", "openai"])
async def profile(request: pytest.FixtureRequest, settings: Settings) -> AsyncIterator[Profile]:
    settings.LLM_OFFLINE_DELAY = 0
    if request.param == "offline":
        yield OFFLINE
        return
    with ModelServer() as server:
        yield Profile(name="scripted", base_url=server.base_url, model=MODEL)
        await llm.aclose()


async def streamed(profile: Profile, request: ChatRequest = QUESTION) -> list[Chunk]:
    """The chunks of the provider itself, without retries around it."""
    stream = provider(profile.provider).stream(request, profile=profile, clock=Clock())
    async with aclosing(stream) as chunks:
        return [chunk async for chunk in chunks]


async def test_an_answer_comes_in_several_pieces(profile: Profile) -> None:
    *pieces, _ = await streamed(profile)
    assert len(pieces) > 1
    assert all(piece.text or piece.reasoning for piece in pieces)


async def test_the_last_chunk_and_only_that_says_how_it_ended_and_what_it_cost(profile: Profile) -> None:
    *pieces, last = await streamed(profile)
    assert (last.text, last.reasoning, last.finish_reason, last.model) == ("", "", "stop", profile.model)
    assert last.usage is not None
    assert last.usage.prompt_tokens > 0
    assert last.usage.completion_tokens > 0
    assert not [piece for piece in pieces if piece.usage or piece.finish_reason or piece.tool_calls or piece.model]


async def test_chinese_codes_and_emoji_come_through_byte_for_byte(profile: Profile) -> None:
    said = (
        Message("user", "我的暗号是 AB-1203 😀𠮷"),
        Message("assistant", "好"),
        Message("user", "暗号 AB-1203 😀𠮷 是？"),
    )
    text = "".join(chunk.text for chunk in await streamed(profile, ChatRequest(said)))
    assert "AB-1203 😀𠮷" in text


async def test_half_characters_and_nul_in_a_prompt_do_no_harm(profile: Profile) -> None:
    said = (Message("user", "前\ud83d\0后"), Message("assistant", ""), Message("user", "坏\ude00字"))
    text = "".join(chunk.text for chunk in await streamed(profile, ChatRequest(said)))
    assert "\0" not in text
    assert text.encode()


async def test_a_conversation_in_no_proper_order_is_answered(profile: Profile) -> None:
    said = (
        Message("assistant", "欢迎"),
        Message("user", "一"),
        Message("system", "规则"),
        Message("user", "二"),
        Message("tool", "果", tool_call_id="x"),
    )
    assert await streamed(profile, ChatRequest(said))


async def test_closing_a_stream_early_ends_it(profile: Profile) -> None:
    stream = provider(profile.provider).stream(QUESTION, profile=profile, clock=Clock())
    await anext(stream)
    await stream.aclose()
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_a_deadline_that_has_passed_is_a_timeout(profile: Profile, settings: Settings) -> None:
    settings.LLM_DEADLINES = {"connect": 5, "first_token": 0, "idle": 0, "total": 0}
    with pytest.raises(ModelTimeout):
        await streamed(profile)


async def test_a_request_without_any_words_is_refused(profile: Profile) -> None:
    with pytest.raises(ModelRejected):
        await streamed(profile, ChatRequest((Message("user", " "), Message("assistant", ""))))


async def test_many_streams_at_once_get_each_their_own_answer(profile: Profile) -> None:
    words = [f"文件 F{number:03} 在哪里" for number in range(40)]
    earlier = [(Message("user", f"文件 F{number:03} 在档案室。"), Message("assistant", "好")) for number in range(40)]
    requests = [ChatRequest((*said, Message("user", text))) for said, text in zip(earlier, words, strict=True)]
    answers = await asyncio.gather(*(streamed(profile, request) for request in requests))
    found = [set(re.findall(r"F\d{3}", "".join(chunk.text for chunk in answer))) for answer in answers]
    assert found == [{f"F{number:03}"} for number in range(40)]


def test_a_job_gets_the_text_that_a_chat_gets(profile: Profile) -> None:
    async def chat() -> str:
        async with aclosing(llm.stream(QUESTION, profile=profile)) as stream:
            text = "".join([chunk.text async for chunk in stream])
        await llm.aclose()
        return text

    assert llm.complete(QUESTION, profile=profile).text == asyncio.run(chat())
