"""How a request passes between the event loop and the thread that answers it."""

import asyncio
from typing import Any

import pytest
from asgiref.sync import SyncToAsync
from asgiref.testing import ApplicationCommunicator

from config.handler import OneHopHandler

pytestmark = pytest.mark.django_db(transaction=True)


async def fetched(path: str) -> list[dict[str, Any]]:
    """The messages of one GET."""
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": [(b"host", b"testserver")]}
    communicator = ApplicationCommunicator(OneHopHandler(), scope)
    await communicator.send_input({"type": "http.request"})
    messages = [await communicator.receive_output(timeout=10)]
    while messages[-1].get("more_body", messages[-1]["type"] == "http.response.start"):
        messages.append(await communicator.receive_output(timeout=10))
    await communicator.wait()
    return messages


def test_middleware_and_view_take_one_hop_to_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside it there are the two of Django itself: its signal at the start, and the closing of the response."""
    hops: list[str] = []
    plain = SyncToAsync.__call__

    async def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        hops.append(getattr(self.func, "__qualname__", repr(self.func)))
        return await plain(self, *args, **kwargs)

    monkeypatch.setattr(SyncToAsync, "__call__", counted)
    messages = asyncio.run(fetched("/accounts/login/"))
    assert messages[0]["status"] == 200
    assert len([hop for hop in hops if "get_response" in hop]) == 1
    assert len(hops) <= 3, hops
