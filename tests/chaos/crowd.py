"""People who chat whatever happens, and remember exactly what they were told."""

import asyncio
import json
import random
import uuid
from dataclasses import dataclass, field
from typing import Any

import websockets
from websockets.exceptions import WebSocketException

TERMINAL = ("turn.completed", "turn.stopped", "turn.failed", "turn.interrupted")
TRIES = 200
PAUSE = 0.3


@dataclass
class Said:
    """One message as its sender saw it. `end` is the type of the terminal event, `output` the joined pieces."""

    user_id: int
    words: str
    client_turn_id: str
    session_id: str = ""
    turn_id: str = ""
    end: str = ""
    output: str = ""
    terminals: int = 0
    pieces: dict[int, str] = field(default_factory=dict)
    last_id: int = 0


@dataclass
class Chatter:
    """A person with a login who keeps one session going."""

    user_id: int
    key: str
    flow_id: int
    addresses: list[str]
    chance: random.Random
    said: list[Said] = field(default_factory=list)

    async def chat(self, until: asyncio.Event) -> None:
        session_id, number = "", 0
        while not until.is_set():
            number += 1
            words = f"person {self.user_id} says {number} " + "word " * self.chance.randint(3, 25)
            said = Said(self.user_id, words, uuid.uuid4().hex, session_id)
            self.said.append(said)
            await self._say(said)
            session_id = said.session_id
            await asyncio.sleep(self.chance.uniform(0, 0.5))

    async def _say(self, said: Said) -> None:
        """Sends the message until a terminal event comes, over whichever process answers."""
        for _ in range(TRIES):
            try:
                await self._listen(said)
            except (OSError, WebSocketException, TimeoutError):
                await asyncio.sleep(PAUSE)
            if said.end:
                return
        raise RuntimeError(f"no end after {TRIES} tries: {said.client_turn_id}")

    async def _listen(self, said: Said) -> None:
        address = self.chance.choice(self.addresses).replace("http", "ws")
        headers = {"Authorization": f"Token {self.key}"}
        async with websockets.connect(
            f"{address}/ws/flows/{self.flow_id}/", additional_headers=headers, open_timeout=10, max_size=None
        ) as socket:
            await socket.send(json.dumps(self._request(said)))
            while not said.end:
                frame = json.loads(await asyncio.wait_for(socket.recv(), 40))
                if frame["type"] == "error":
                    await asyncio.sleep(PAUSE)
                    return
                self._hear(said, frame)

    def _request(self, said: Said) -> dict[str, Any]:
        if said.turn_id:
            return {"type": "turn.attach", "turn_id": said.turn_id, "after": said.last_id}
        start: dict[str, Any] = {"type": "turn.start", "input": said.words, "client_turn_id": said.client_turn_id}
        return start | ({"session_id": said.session_id} if said.session_id else {})

    def _hear(self, said: Said, frame: dict[str, Any]) -> None:
        if frame["type"] == "ping":
            return
        said.turn_id = frame["turn_id"]
        said.last_id = max(said.last_id, frame["id"])
        if frame["type"] == "turn.started":
            said.session_id = frame["session_id"]
        elif frame["type"] == "delta":
            said.pieces[frame["id"]] = frame["text"]
        elif frame["type"] in TERMINAL:
            said.terminals += 1
            said.end = frame["type"]
            said.output = frame.get("output", "")
