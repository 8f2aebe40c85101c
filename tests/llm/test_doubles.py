"""The scripted endpoint tells truly who hung up, since other tests believe it."""

import httpx2
import pytest

from tests.doubles import Answer, ModelServer, chunk

ASKED = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "一 二"}]}


def ask(server: ModelServer, **body: object) -> httpx2.Response:
    return httpx2.post(f"{server.base_url}/chat/completions", json=ASKED | body)


def test_an_answer_read_to_its_end_is_not_closed_early(server: ModelServer) -> None:
    assert "二" in ask(server).text
    assert ask(server, stream=False).json()["choices"][0]["message"]["content"] == "一 二"
    assert not server.closed_early
    assert not any(request.closed_early for request in server.requests)


def test_a_connection_that_the_server_cuts_is_not_closed_early_by_its_client(server: ModelServer) -> None:
    server.enqueue(Answer(["一", "二"], cut_after=1))
    with pytest.raises(httpx2.RemoteProtocolError):
        ask(server)
    assert not server.closed_early


def test_it_lists_its_model_and_answers_in_the_order_of_its_queue(server: ModelServer) -> None:
    assert httpx2.get(f"{server.base_url}/models").json()["data"][0]["id"]
    server.enqueue(Answer(status=429, headers={"Retry-After": "7"}), Answer(events=[chunk({"content": "原样"})]))
    assert ask(server).headers["retry-after"] == "7"
    assert "原样" in ask(server).text
    assert len(server.chats) == 2
