"""Whole answers for jobs: from any thread and any forked worker, with the deadlines of a stream (S5)."""

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import pytest

import llm
from llm import errors
from llm.profile import Profile
from llm.types import Completion, ToolCall, Usage
from tests.doubles import MODEL, Answer, ModelServer
from tests.llm.asking import question


@pytest.fixture
def profile(server: ModelServer) -> Profile:
    return Profile(name="scripted", base_url=server.base_url, model=MODEL)


def test_a_job_gets_the_whole_answer(server: ModelServer, profile: Profile) -> None:
    call = {"id": "a", "function": {"name": "find", "arguments": "{}"}}
    server.enqueue(Answer(["总", "结"], reasoning=["想"], tool_calls=[call]))
    assert llm.complete(question(), profile=profile) == Completion(
        text="总结",
        reasoning="想",
        tool_calls=(ToolCall("a", "find", "{}"),),
        usage=Usage(11, 7),
        finish_reason="stop",
        model=MODEL,
    )


def test_a_model_that_only_streams_serves_jobs_too(server: ModelServer, profile: Profile) -> None:
    """Some models refuse unstreamed calls while they think (fault 65)."""
    llm.complete(question(), profile=profile)
    assert server.chats[0].body["stream"] is True


def test_thinking_whose_opening_tag_is_in_the_template_is_no_part_of_the_answer(
    server: ModelServer, profile: Profile
) -> None:
    server.enqueue(Answer(["先想", "</think>", "\n标题"]))
    completion = llm.complete(question(), profile=profile)
    assert (completion.reasoning, completion.text) == ("先想", "标题")


def test_an_empty_answer_is_an_error_and_never_an_empty_text(server: ModelServer, profile: Profile) -> None:
    """Otherwise an empty title or summary overwrites a good one (fault 71)."""
    server.enqueue(Answer((), reasoning=["想"], finish_reason="length"))
    with pytest.raises(errors.ThinkingUsedUpTheAnswer):
        llm.complete(question(), profile=profile)


def test_a_job_is_served_by_the_fallback_as_a_chat_is(server: ModelServer, profile: Profile) -> None:
    server.enqueue(Answer(status=404), Answer("我来"))
    assert llm.complete(question(), profile=replace(profile, fallback=profile)).text == "我来"


def test_jobs_in_many_threads_do_not_mix(server: ModelServer, profile: Profile) -> None:
    texts = [f"第 {number} 件事" for number in range(24)]
    with ThreadPoolExecutor(8) as threads:
        completions = list(threads.map(lambda text: llm.complete(question(text), profile=profile), texts))
    assert [completion.text for completion in completions] == texts


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_worker_asks_over_connections_of_its_own(server: ModelServer, profile: Profile) -> None:
    llm.complete(question(), profile=profile)  # the parent has a loop and connections that a child must not use
    child = os.fork()
    if child == 0:
        answered = llm.complete(question("子进程"), profile=profile).text == "子进程"
        os._exit(0 if answered else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert llm.complete(question(), profile=profile).text == "你好"


class TimeIsUp(Exception):
    """As a job's soft time limit raises it: from a signal, in the thread that waits."""


@contextmanager
def raised_by_signal() -> Iterator[None]:
    def handler(*_: object) -> None:
        raise TimeIsUp

    former = signal.signal(signal.SIGUSR1, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGUSR1, former)


def test_a_job_at_its_time_limit_stops_the_model(server: ModelServer, profile: Profile) -> None:
    server.enqueue(Answer(hold=threading.Event()))

    def limit() -> None:
        server.asked.wait(10)
        os.kill(os.getpid(), signal.SIGUSR1)

    with raised_by_signal():
        threading.Thread(target=limit).start()
        with pytest.raises(TimeIsUp):
            llm.complete(question(), profile=profile)
    assert server.closed_early.wait(10)
