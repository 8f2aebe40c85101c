"""The hot copy of recent turns in Redis: one round trip to read it, one Lua call to write it.

Keys of one session, with the user in literal braces (the Redis Cluster hash tag, so that all of them share a slot):

    mem:{user}:flow:session:messages   List of JSON `{"role", "content", "ts", "seq"}`, oldest first
    mem:{user}:flow:session:meta       Hash: flow_name, created_at, last_active_at, message_count, last_seq,
                                       covers_seq, revision
    mem:{user}:flow:session:summary    String
    mem:{user}:sessions                Sorted set of `flow:session` by last activity

PostgreSQL holds the truth. A copy whose `last_seq` or `revision` differs from the session's row is stale and is
built again; an unreachable server is no error here: reading answers None, writing answers False.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, TypeVar
from uuid import UUID

import orjson
import redis
import structlog
from django.conf import settings
from django.utils import timezone
from django_redis import get_redis_connection
from redis.cluster import RedisCluster

from memory.breaker import Breaker
from memory.models import Conversation, Turn
from memory.window_scripts import APPEND, REPLACE

logger = structlog.get_logger(__name__)
breaker = Breaker()
T = TypeVar("T")

TIMES = orjson.OPT_UTC_Z
"""How aware times are written: ISO 8601 with Z."""

ERASED_TTL = 24 * 3600
"""Seconds that a marker keeps late writes away from an erased session; ids are never used twice."""


@dataclass(frozen=True, slots=True)
class Keys:
    """The Redis keys of one session, in the order the scripts take them."""

    messages: str
    meta: str
    summary: str
    sessions: str
    erased: str
    member: str

    @classmethod
    def of(cls, user_id: int, flow_id: int, session_id: UUID) -> "Keys":
        owner, member = f"mem:{{{user_id}}}", f"{flow_id}:{session_id}"
        stem = f"{owner}:{member}"
        return cls(
            messages=f"{stem}:messages",
            meta=f"{stem}:meta",
            summary=f"{stem}:summary",
            sessions=f"{owner}:sessions",
            erased=f"tacit:erased:{{{user_id}}}:{session_id}",
            member=member,
        )

    def for_script(self) -> list[str]:
        return [self.messages, self.meta, self.summary, self.sessions, self.erased]


@dataclass(frozen=True, slots=True)
class Copy:
    """What Redis holds of one session: messages as stored, oldest first, and the summary's text."""

    messages: list[dict[str, Any]]
    summary: str


def capacity() -> int:
    """Messages that the copy of one session holds at most."""
    return int(settings.WINDOW_MESSAGES)


def keys_of(conversation: Conversation) -> Keys:
    return Keys.of(conversation.user_id, conversation.flow_id, conversation.pk)


def item(seq: int, role: str, content: str, at: datetime) -> bytes:
    """One list item, UTF-8 with nothing escaped that JSON lets stand."""
    return orjson.dumps({"role": role, "content": content, "ts": at, "seq": seq}, option=TIMES)


def items_of(turn: Turn) -> list[bytes]:
    """The two list items of a replayable turn, the question first."""
    return [
        item(turn.seq, "user", turn.input, turn.started_at),
        item(turn.seq + 1, "assistant", turn.output, turn.finished_at or turn.started_at),
    ]


def read(conversation: Conversation, *, last_seq: int) -> Copy | None:
    """The copy as it should stand with `last_seq` as the newest message; None when absent, stale or unreachable."""
    keys = keys_of(conversation)

    def fetch(client: Any) -> list[Any]:
        pipe = client.pipeline(transaction=False)
        pipe.lrange(keys.messages, 0, -1)
        pipe.hmget(keys.meta, "last_seq", "revision")
        if conversation.summary:
            pipe.get(keys.summary)
        return pipe.execute()  # type: ignore[no-any-return]

    answer = _guarded(fetch)
    if answer is None:
        return None
    messages, (held_seq, held_revision), *summaries = answer
    if held_seq is None or int(held_seq) != last_seq or int(held_revision) != conversation.revision:
        return None
    if not messages or None in summaries:
        return None  # one key of the copy was evicted, or there is nothing to lose by looking
    return Copy(orjson.loads(b"[%b]" % b",".join(messages)), b"".join(summaries).decode())


def append(conversation: Conversation, turn: Turn, items: list[bytes]) -> bool:
    """Adds an ended turn to the copy that stood before it; a copy of another state is dropped instead.

    `items` is empty for a turn that is never replayed. False when Redis could not be reached.
    """
    keys, now = keys_of(conversation), timezone.now()
    meta = _meta(conversation, now) if turn.seq == 1 else {"last_active_at": _moment(now)}
    arguments = [
        turn.seq - 1,
        conversation.revision,
        turn.seq + 1,
        keys.member,
        now.timestamp(),
        capacity(),
        settings.WINDOW_TTL,
        settings.SUMMARY_TTL,
        2 if turn.output else 1,
        len(meta),
        *_flat(meta),
        *items,
    ]
    return _guarded(lambda client: _script(APPEND)(keys.for_script(), arguments, client)) is not None


def replace(conversation: Conversation, turns: Iterable[Turn], *, last_seq: int, message_count: int) -> bool:
    """Builds the copy again from replayable `turns`, oldest first. False when Redis could not be reached."""
    keys = keys_of(conversation)
    meta = _meta(conversation, conversation.last_active_at) | {
        "message_count": message_count,
        "last_seq": last_seq,
    }
    items = [item for turn in turns for item in items_of(turn)][-capacity() :]
    arguments = [
        keys.member,
        conversation.last_active_at.timestamp(),
        settings.WINDOW_TTL,
        settings.SUMMARY_TTL,
        conversation.summary,
        len(meta),
        *_flat(meta),
        *items,
    ]
    return _guarded(lambda client: _script(REPLACE)(keys.for_script(), arguments, client)) is not None


def drop(all_keys: Iterable[Keys]) -> int | None:
    """Deletes erased sessions' keys and marks them against late writes.

    Returns the number of keys that went, or None when Redis could not be reached.
    """
    erased = list(all_keys)

    def delete(client: Any) -> int:
        pipe = client.pipeline(transaction=False)
        for keys in erased:
            # In this order, so that a write in between leaves nothing behind.
            pipe.set(keys.erased, 1, ex=ERASED_TTL)
            pipe.delete(keys.messages, keys.meta, keys.summary)
            pipe.zrem(keys.sessions, keys.member)
        return sum(pipe.execute()[1::3])

    return _guarded(delete)


def recent_members(user_id: int) -> list[str] | None:
    """The user's `flow:session` members, newest first, after pruning those idle longer than they are kept."""
    key = f"mem:{{{user_id}}}:sessions"
    oldest = (timezone.now() - timedelta(seconds=settings.SUMMARY_TTL)).timestamp()

    def fetch(client: Any) -> list[str]:
        pipe = client.pipeline(transaction=False)
        pipe.zremrangebyscore(key, "-inf", oldest)
        pipe.zrevrange(key, 0, -1)
        return [member.decode() for member in pipe.execute()[1]]

    return _guarded(fetch)


def forget_members(user_id: int, members: Iterable[str]) -> None:
    """Takes members out of the user's index: their sessions no longer exist."""
    dead = list(members)
    if dead:
        _guarded(lambda client: client.zrem(f"mem:{{{user_id}}}:sessions", *dead))


def purge(user_id: int) -> int | None:
    """Deletes whatever else stands under the user's prefix; how many keys, None when Redis could not be reached.

    It walks over all keys of the server: for a command, never for a request.
    """

    def delete(client: Any) -> int:
        keys = list(client.scan_iter(match=f"mem:{{{user_id}}}:*", count=1000))
        return sum(client.delete(key) for key in keys)

    return _guarded(delete)


def rewrite_log() -> None:
    """Has every server of a cluster write its append-only file anew. Raises `redis.RedisError`."""
    _client().bgrewriteaof(target_nodes=RedisCluster.ALL_NODES)


def ping() -> bool:
    """Whether the memory server answers, whatever the breaker thinks."""
    try:
        return bool(_client().ping())
    except redis.RedisError:
        return False


def _meta(conversation: Conversation, active: datetime) -> dict[str, Any]:
    return {
        "flow_name": conversation.flow_name,
        "created_at": _moment(conversation.created_at),
        "last_active_at": _moment(active),
        "covers_seq": conversation.covers_seq,
        "revision": conversation.revision,
    }


def _moment(at: datetime) -> str:
    return orjson.dumps(at, option=TIMES).decode().strip('"')


def _flat(meta: dict[str, Any]) -> list[Any]:
    return [part for pair in meta.items() for part in pair]


@cache
def _cluster(url: str) -> RedisCluster:
    return RedisCluster.from_url(url.replace("redis-cluster://", "redis://"), **settings.REDIS_FAST_FAIL)


@cache
def _single(location: str) -> Any:
    """The client of the server that the cache "memory" has at `location`. Its pool serves every thread."""
    return get_redis_connection("memory")


def _client() -> Any:
    """The client of the memory server, made once: having Django look it up costs as much as a third of a read."""
    url = settings.MEMORY_REDIS_URL
    return _cluster(url) if url.startswith("redis-cluster://") else _single(settings.CACHES["memory"]["LOCATION"])


@cache
def _script(source: str) -> Any:
    return _client().register_script(source)


def _guarded(call: Callable[[Any], T]) -> T | None:
    """The call's answer, or None when the breaker is open or Redis fails; never an error."""
    if not breaker.allows():
        return None
    try:
        answer = call(_client())
    except redis.RedisError as error:
        breaker.failed()
        logger.warning("hot memory unreachable", error=type(error).__name__)
        return None
    breaker.succeeded()
    return answer
