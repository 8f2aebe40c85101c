"""The cast. Alice leads; Bob and Dan work for her; Carol is a stranger from another department.

Each of them comes with a login: an API client that speaks HTTP to the running server, and sockets.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any

import httpx2
from django.contrib.auth.models import User
from knox.models import AuthToken
from websockets.sync.client import ClientConnection, connect

from profiles.models import UserProfile
from tests.factories import UserFactory

NAMES = {"alice": "张岚", "bob": "王小明", "dan": "李小明", "carol": "周可", "frank": "方恺"}
ENDS = ("turn.completed", "turn.stopped", "turn.failed", "turn.interrupted")


@dataclass
class Person:
    """One of the cast, with an address of the server to talk to."""

    user: User
    address: str

    @cached_property
    def key(self) -> str:
        """An API key."""
        return AuthToken.objects.create(user=self.user, expiry=timedelta(days=1))[1]

    @cached_property
    def api(self) -> httpx2.Client:
        return httpx2.Client(base_url=self.address, headers={"Authorization": f"Token {self.key}"}, timeout=30)

    def says(self, flow: Any, words: str, **more: Any) -> dict[str, Any]:
        """Says something in a flow and waits for the answer, which must come."""
        response = self.api.post(f"/api/flows/{flow.pk}/execute", json={"input": words, **more})
        assert response.status_code == 200, response.text
        return response.json()

    @contextmanager
    def socket(self, flow_id: object, **options: Any) -> Iterator[Socket]:
        """An open socket to a flow."""
        headers = {"Authorization": f"Token {self.key}"} | options.pop("headers", {})
        address = f"{self.address.replace('http', 'ws')}/ws/flows/{flow_id}/"
        with connect(address, additional_headers=headers, open_timeout=20, **options) as connection:
            yield Socket(connection)


@dataclass
class Socket:
    """A chat socket that speaks JSON."""

    connection: ClientConnection

    def send(self, kind: str, **data: Any) -> None:
        self.connection.send(json.dumps({"type": kind, **data}))

    def receive(self) -> dict[str, Any]:
        """The next frame, pings left out; TimeoutError when none comes."""
        deadline = time.monotonic() + 20
        while True:
            frame = json.loads(self.connection.recv(timeout=deadline - time.monotonic()))
            if frame["type"] != "ping":
                return frame

    def until(self, *kinds: str) -> list[dict[str, Any]]:
        """Every frame up to the first of these types, that one included."""
        frames = [self.receive()]
        while frames[-1]["type"] not in kinds:
            frames.append(self.receive())
        return frames

    def to_end(self) -> list[dict[str, Any]]:
        """Every frame up to the end of a turn."""
        return self.until(*ENDS)


def text_of(events: list[dict[str, Any]]) -> str:
    """The pieces of an answer, joined."""
    return "".join(event["text"] for event in events if event["type"] == "delta")


def sse_events(body: str) -> list[dict[str, Any]]:
    """The events of a whole SSE body, pings left out."""
    frames = [frame for frame in body.split("\n\n") if frame.startswith("id: ")]
    return [json.loads(frame.split("\ndata: ", 1)[1]) for frame in frames]


def add_person(name: str, address: str) -> Person:
    """Puts one of the cast into the database."""
    user = UserFactory(username=name)
    UserProfile.objects.create(user=user, display_name=NAMES[name])
    return Person(user, address)
