"""What the sockets of the product share: they speak JSON and keep themselves alive."""

import asyncio
from typing import Any

import orjson
from channels.generic.websocket import AsyncWebsocketConsumer

PING_SECONDS = 15.0


class JsonSocket(AsyncWebsocketConsumer):
    """A socket that sends frames of JSON, and a ping whenever `PING_SECONDS` have passed."""

    pinging: asyncio.Task[None] | None = None

    async def welcome(self) -> None:
        """Accepts the socket and begins to ping."""
        await self.accept()
        self.pinging = asyncio.create_task(self._ping_forever())

    async def send_frame(self, frame: dict[str, Any]) -> None:
        await self.send(text_data=orjson.dumps(frame).decode())

    async def _ping_forever(self) -> None:
        while True:
            await asyncio.sleep(PING_SECONDS)
            await self.send_frame({"type": "ping"})
