"""Sends over the channel layer, which may be away: what travels here is told elsewhere too."""

import asyncio
from contextlib import suppress
from typing import Any

from channels.layers import get_channel_layer
from redis.exceptions import RedisError

SEND_SECONDS = 0.5


async def tell(group: str, message: dict[str, Any]) -> None:
    """Sends a message to every member of a group; silently nothing while Redis is away."""
    with suppress(OSError, RedisError, TimeoutError):
        async with asyncio.timeout(SEND_SECONDS):
            await get_channel_layer().group_send(group, message)
