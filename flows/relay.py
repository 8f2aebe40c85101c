"""Carries the events of turns between processes: one Redis stream a turn, ids `0-N`.

One writer per process flushes the events of all its turns in one pipeline, the first at once and then about every
30 ms: a write per piece of text costs 15 times the CPU. One reader per process reads the streams that its listeners
want. Without Redis nothing breaks: listeners of the process that runs the turn get its events in memory, others read
the state from PostgreSQL.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
import redis.asyncio as redis
import structlog
from django.conf import settings
from django_redis import get_redis_connection

from flows.events import Event, TurnLog
from memory.breaker import Breaker

logger = structlog.get_logger(__name__)
FLUSH_SECONDS = 0.03
READ_BLOCK_MS = 150
TOUCH_EVERY = 8
"""Events after which a growing stream gets its full time to live again: after each, the commands would be double."""


def _key(turn_id: UUID) -> str:
    return f"tacit:events:{turn_id}"


def _encode(event: Event) -> bytes:
    return orjson.dumps([event.plain_id, event.type, event.data])


def _decode(turn_id: UUID, stream_id: bytes, fields: dict[bytes, bytes]) -> Event:
    plain_id, kind, data = orjson.loads(fields[b"e"])
    return Event(int(stream_id.split(b"-")[1]), plain_id, turn_id, kind, data)


@dataclass(slots=True)
class Mirror:
    """A turn of another process, as its listeners here share it.

    `torn`: its stream has a gap, left while Redis was away. Then it is read no more and PostgreSQL tells the end.
    """

    log: TurnLog
    listeners: int = 0
    torn: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the stream has more to give."""
        return not self.torn and not self.log.is_closed

    def take(self, events: Iterable[Event]) -> None:
        """Adds what was read from the stream."""
        for event in events:
            self.log.add(event)
            self.torn = event.page_id > len(self.log.events)


class Relay:
    """The streams of one event loop. `start` and `close` belong to the server's lifespan."""

    def __init__(self) -> None:
        self._client: redis.Redis = redis.Redis.from_url(
            settings.REDIS_URL, protocol=2, **(settings.REDIS_FAST_FAIL | {"socket_timeout": 2})
        )
        self._breaker = Breaker()
        self._pending: list[Event] = []
        self._mirrors: dict[UUID, Mirror] = {}
        self._open = True
        self._to_write, self._to_read = asyncio.Event(), asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self._tasks = [asyncio.create_task(self._write_forever()), asyncio.create_task(self._read_forever())]

    async def close(self) -> None:
        """Writes what is still pending and lets go of the connections."""
        # Not cancelled: redis-py sends within `wait_for`, which in Python 3.11 may swallow a cancellation.
        self._open = False
        self._to_write.set()
        self._to_read.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._flush()
        await self._client.aclose()

    def publish(self, event: Event) -> None:
        """Queues an event for the next flush."""
        self._pending.append(event)
        self._to_write.set()

    async def past(self, turn_id: UUID) -> list[Event]:
        """What the turn's stream holds; nothing when it has expired or Redis is away."""
        if not self._breaker.allows():
            return []
        try:
            entries: Any = await self._client.xrange(_key(turn_id))
        except redis.RedisError:
            self._breaker.failed()
            return []
        self._breaker.succeeded()
        return [_decode(turn_id, stream_id, fields) for stream_id, fields in entries]

    async def forget(self, turn_id: UUID) -> None:
        """Deletes the stream of an erased turn."""
        self._pending = [event for event in self._pending if event.turn_id != turn_id]
        try:
            await self._client.delete(_key(turn_id))
        except redis.RedisError as error:
            logger.error("erased stream left to expire", turn_id=str(turn_id), error=type(error).__name__)

    @asynccontextmanager
    async def mirror(self, turn_id: UUID) -> AsyncIterator[TurnLog]:
        """A log that fills itself from the turn's stream. All who listen here share one."""
        mirror = self._mirrors.setdefault(turn_id, Mirror(TurnLog(turn_id)))
        mirror.listeners += 1
        try:
            for event in await self.past(turn_id):
                mirror.log.add(event)
            self._to_read.set()
            yield mirror.log
        finally:
            mirror.listeners -= 1
            if not mirror.listeners:
                del self._mirrors[turn_id]

    async def _write_forever(self) -> None:
        while self._open:
            await self._to_write.wait()
            self._to_write.clear()
            await self._flush()
            await asyncio.sleep(FLUSH_SECONDS)

    async def _flush(self) -> None:
        events, self._pending = self._pending, []
        if not events or not self._breaker.allows():
            return
        pipe = self._client.pipeline(transaction=False)
        for event in events:
            # Only the first makes the stream: one that was erased meanwhile must not come back.
            later = event.page_id > 1
            pipe.xadd(_key(event.turn_id), {"e": _encode(event)}, id=f"0-{event.page_id}", nomkstream=later)
            if event.is_terminal or event.page_id % TOUCH_EVERY == 1:
                pipe.expire(_key(event.turn_id), settings.EVENT_REPLAY_SECONDS)
        try:
            # An entry that is there already is no reason to lose the others.
            await pipe.execute(raise_on_error=False)
        except redis.RedisError as error:
            self._breaker.failed()
            logger.warning("event streams unreachable", error=type(error).__name__)
        else:
            self._breaker.succeeded()

    async def _read_forever(self) -> None:
        while self._open:
            wanted = {turn_id: mirror for turn_id, mirror in self._mirrors.items() if mirror.is_open}
            if not wanted:
                await self._to_read.wait()
                self._to_read.clear()
            elif not self._breaker.allows() or not await self._read(wanted):
                await asyncio.sleep(1)

    async def _read(self, wanted: dict[UUID, Mirror]) -> bool:
        places: Any = {_key(turn_id): f"0-{len(mirror.log.events)}" for turn_id, mirror in wanted.items()}
        try:
            found: Any = await self._client.xread(places, block=READ_BLOCK_MS)
        except redis.RedisError:
            self._breaker.failed()
            return False
        self._breaker.succeeded()
        for key, entries in found:
            turn_id = UUID(key.decode().rsplit(":", 1)[1])
            wanted[turn_id].take(_decode(turn_id, stream_id, fields) for stream_id, fields in entries)
        return True


def delete_streams(turn_ids: Iterable[UUID]) -> None:
    """Deletes the streams of erased turns; while Redis is away they are left to expire."""
    keys = [_key(turn_id) for turn_id in turn_ids]
    try:
        if keys:
            get_redis_connection("default").delete(*keys)
    except redis.RedisError as error:
        logger.error("erased streams left to expire", streams=len(keys), error=type(error).__name__)
