"""Embedders: the local one, and those of the OpenAI protocol against a real HTTP server."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from pytest_django import Settings
from threadpoolctl import threadpool_info

from llm import checks, embedders
from llm.embedders import LocalEmbedder, resolve_embedder
from llm.errors import (
    EmbeddingMismatch,
    ModelMisconfigured,
    ModelRateLimited,
    ModelRejected,
    ModelTimeout,
    ModelUnavailable,
    ProviderError,
)
from llm.remote_embedder import BATCH, PIECE_CHARS, RemoteEmbedder
from tests.doubles import MODEL, Answer, ModelServer, refused, spelled, vectors

PATIENCE = 30.0


@pytest.fixture(scope="module")
def local() -> LocalEmbedder:
    embedder = LocalEmbedder()
    embedder.warm()
    return embedder


@pytest.fixture
def remote(server: ModelServer) -> RemoteEmbedder:
    return RemoteEmbedder(base_url=server.base_url, api_key="sk-scripted", model=MODEL)


# --- The contract ---------------------------------------------------------------------------------------------


@pytest.fixture(params=["local", "remote"])
def embedder(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize(
    "texts",
    [
        [],
        ["abc"],
        ["abc", "", "   ", "\ud800", "a\0b"],
        ["ab c. " * 5_000, "b"],
        ["项目进度如何" * 600],
        ["a" * 20_000],
    ],
    ids=["none", "one", "empty and broken", "long", "long Chinese", "one long word"],
)
def test_each_text_becomes_a_row_of_unit_length(embedder: Any, texts: list[str]) -> None:
    rows = embedder.embed(texts, timeout=PATIENCE)
    assert rows.shape == (len(texts), embedder.dimension)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)


def test_a_text_has_the_same_vector_alone_and_among_others(embedder: Any) -> None:
    alone = embedder.embed(["abc"], timeout=PATIENCE)[0]
    among = embedder.embed(["h " * 4_000, "abc", "d"], timeout=PATIENCE)[1]
    assert np.allclose(alone, among, atol=1e-4)


def test_time_that_is_over_is_a_timeout(embedder: Any) -> None:
    with pytest.raises(ModelTimeout):
        embedder.embed(["abc"], timeout=0)


# --- The local one --------------------------------------------------------------------------------------------


def test_the_local_one_finds_a_meaning_in_other_words_and_in_another_language(local: LocalEmbedder) -> None:
    asked, same, english, other = local.embed(
        ["测试覆盖率不足", "测试做得不够全面", "Test coverage is too low", "明天去吃火锅吧"], timeout=PATIENCE
    )
    assert asked @ same > asked @ other
    assert asked @ english > asked @ other


def test_both_scripts_of_chinese_are_one_to_the_local_one(local: LocalEmbedder) -> None:
    simplified, traditional = local.embed(["项目进度如何", "項目進度如何"], timeout=PATIENCE)
    assert simplified @ traditional == pytest.approx(1, abs=1e-4)


def test_the_end_of_a_long_text_counts(local: LocalEmbedder) -> None:
    short = "今天开会讨论了一些事情。" * 400
    without, with_end = local.embed([short, short + "供应商报价涨了。" * 600], timeout=PATIENCE)
    assert without @ with_end < 0.99


def test_threads_share_the_local_one(local: LocalEmbedder) -> None:
    texts, rows = [f"第{number}个问题" for number in range(8)], {}
    expected = local.embed(texts, timeout=PATIENCE)

    def work(place: int) -> None:
        rows[place] = local.embed([texts[place]], timeout=PATIENCE)[0]

    threads = [threading.Thread(target=work, args=(place,)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.allclose(np.stack([rows[place] for place in range(8)]), expected, atol=1e-4)


# --- The OpenAI protocol --------------------------------------------------------------------------------------


def test_vectors_come_in_the_order_of_the_texts_whatever_the_order_of_the_answer(
    server: ModelServer, remote: RemoteEmbedder
) -> None:
    server.embed = lambda inputs: (200, vectors([[1, 0], [0, 1], [1, 1]], order=[2, 0, 1]))
    rows = remote.embed(["a", "b", "c"], timeout=PATIENCE)
    assert np.allclose(rows, [[1, 0], [0, 1], [0.5**0.5, 0.5**0.5]], atol=1e-6)


def test_the_request_names_the_model_and_carries_the_key(server: ModelServer, remote: RemoteEmbedder) -> None:
    remote.embed(["a"], timeout=PATIENCE)
    (request,) = server.embeddings
    assert (request.body["model"], request.body["input"]) == (MODEL, ["a"])
    assert request.headers["authorization"] == "Bearer sk-scripted"


def test_many_texts_go_in_batches(server: ModelServer, remote: RemoteEmbedder) -> None:
    rows = remote.embed(["a", "b"] * BATCH, timeout=PATIENCE)
    assert [len(request.body["input"]) for request in server.embeddings] == [BATCH, BATCH]
    assert np.allclose(rows[0], rows[-2])


def test_an_endpoint_that_takes_few_at_once_is_learnt(server: ModelServer, remote: RemoteEmbedder) -> None:
    server.embed = lambda inputs: (
        spelled(inputs) if len(inputs) <= 10 else refused(400, "batch size is invalid, it should not be larger than 10")
    )
    assert remote.embed(["a"] * 20, timeout=PATIENCE).shape[0] == 20
    asked = len(server.embeddings)
    remote.embed(["a"] * 16, timeout=PATIENCE)
    assert all(len(request.body["input"]) <= 10 for request in server.embeddings[asked:])


def test_a_text_too_long_for_the_model_goes_in_shorter_pieces_and_none_of_it_is_lost(
    server: ModelServer, remote: RemoteEmbedder
) -> None:
    server.embed = lambda inputs: (
        spelled(inputs)
        if max(map(len, inputs)) <= 400
        else refused(400, "This model's maximum context length is 400 tokens")
    )
    text = "a" * PIECE_CHARS + "b" * PIECE_CHARS
    long, short = remote.embed([text, "c"], timeout=PATIENCE)
    both = np.array([1, 1, 0, 0, 0, 0, 0, 0, 0]) / 2**0.5
    assert np.allclose(long, both, atol=1e-2)
    assert short[2] == pytest.approx(1)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ((200, vectors([[1.0, 0.0]])), EmbeddingMismatch),
        ((200, vectors([[1.0, 0.0], [1.0]])), EmbeddingMismatch),
        ((200, vectors([[], []])), EmbeddingMismatch),
        ((200, vectors([[0.0, 0.0], [1.0, 0.0]])), EmbeddingMismatch),
        ((200, b"<html>Welcome</html>"), EmbeddingMismatch),
        ((200, b'{"choices": []}'), EmbeddingMismatch),
        (refused(401, "invalid api key"), ModelMisconfigured),
        (refused(404, "no such model"), ModelMisconfigured),
        (refused(400, "the input was refused by a filter"), ModelRejected),
        (refused(429, "slow down"), ModelRateLimited),
        (refused(503, "overloaded"), ModelUnavailable),
    ],
    ids=[
        "too few",
        "uneven",
        "without numbers",
        "no direction",
        "a page",
        "a chat",
        "key",
        "model",
        "filter",
        "429",
        "503",
    ],
)
def test_an_answer_that_is_none_is_an_error_with_a_remedy(
    server: ModelServer, remote: RemoteEmbedder, answer: tuple[int, bytes], error: type[ProviderError]
) -> None:
    server.embed = lambda inputs: answer
    with pytest.raises(error) as raised:
        remote.embed(["秘密", "计划"], timeout=PATIENCE)
    assert raised.value.code
    assert str(raised.value.detail)
    assert "秘密" not in str(raised.value)


def test_another_dimension_than_before_is_refused(server: ModelServer, remote: RemoteEmbedder) -> None:
    remote.embed(["a"], timeout=PATIENCE)
    server.embed = lambda inputs: (200, vectors([[1.0, 0.0]]))
    with pytest.raises(EmbeddingMismatch):
        remote.embed(["a"], timeout=PATIENCE)


def test_a_refusal_is_not_asked_for_again(server: ModelServer, remote: RemoteEmbedder) -> None:
    server.embed = lambda inputs: refused(503, "overloaded")
    with pytest.raises(ModelUnavailable):
        remote.embed(["a"], timeout=PATIENCE)
    assert len(server.embeddings) == 1


def test_an_endpoint_that_hangs_is_left_when_the_time_is_over(server: ModelServer, remote: RemoteEmbedder) -> None:
    held = threading.Event()
    server.enqueue(Answer(hold=held))
    try:
        with pytest.raises(ModelTimeout):
            remote.embed(["a"], timeout=0.2)
    finally:
        held.set()


@pytest.mark.parametrize(
    ("address", "error"), [("http://127.0.0.1:1/v1", ModelUnavailable), ("ftp://127.0.0.1/v1", ModelMisconfigured)]
)
def test_an_address_where_nobody_answers_is_an_error(address: str, error: type[ProviderError]) -> None:
    with pytest.raises(error):
        RemoteEmbedder(base_url=address, api_key="", model=MODEL).embed(["a"], timeout=PATIENCE)


# --- Which one ------------------------------------------------------------------------------------------------


@pytest.fixture
def named(settings: Settings) -> Callable[..., None]:
    def named(model: str = "", base_url: str = "", api_key: str = "") -> None:
        settings.EMBEDDING_MODEL, settings.EMBEDDING_BASE_URL = model, base_url
        settings.EMBEDDING_API_KEY = api_key

    return named


def test_without_settings_it_is_the_local_one_and_one_a_process(named: Callable[..., None]) -> None:
    named()
    assert isinstance(resolve_embedder(), LocalEmbedder)
    assert resolve_embedder() is resolve_embedder()


def test_a_named_endpoint_comes_first(server: ModelServer, named: Callable[..., None]) -> None:
    named("bge-m3", base_url=server.base_url)
    found = resolve_embedder()
    assert isinstance(found, RemoteEmbedder)
    assert found.model == "bge-m3"
    assert found is resolve_embedder()


def test_none_is_none(named: Callable[..., None]) -> None:
    named("none", base_url="http://127.0.0.1:1/v1")
    assert resolve_embedder() is None


def test_without_the_package_there_is_none(named: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    named()
    monkeypatch.setattr(embedders, "find_spec", lambda name: None)
    embedders._local.cache_clear()
    try:
        assert resolve_embedder() is None
    finally:
        embedders._local.cache_clear()


@pytest.mark.parametrize(
    ("values", "warnings"),
    [
        ((), []),
        (("none",), []),
        (("none", "http://127.0.0.1/v1"), []),
        (("bge-m3", "http://127.0.0.1/v1"), []),
        (("bge-m3",), ["llm.W002"]),
        (("", "http://127.0.0.1/v1"), ["llm.W002"]),
    ],
)
def test_half_of_the_settings_is_warned_of(
    named: Callable[..., None], values: Sequence[str], warnings: list[str]
) -> None:
    named(*values)
    assert [warning.id for warning in checks.check_embedder_is_whole()] == warnings


def test_the_local_one_takes_one_core(local: LocalEmbedder) -> None:
    """As many threads as cores waited for each other where others worked too: 20 ms a sentence rather than 5."""
    local.warm()
    assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {1}
