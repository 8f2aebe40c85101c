"""The sessions that the memory bench measures on: made in the stores at hand and taken away again."""

import os
import uuid
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle
from typing import Any, Self

import orjson
import psycopg
import redis
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection

from bench import bare
from bench.sessions import FLOW_ID, Sessions
from bench.timing import Work
from memory import window
from memory.manager import MemoryManager
from memory.models import Conversation, Turn

Ways = dict[str, Callable[[], Work]]


class Stage:
    """A person with sessions, and bare clients beside the product's own. A context manager."""

    def __init__(self, *, sessions: int, messages: int) -> None:
        if Turn._meta.db_table not in connection.introspection.table_names():
            call_command("migrate", verbosity=0)
        self._manager, self._messages = MemoryManager(), messages
        self._redis = redis.Redis.from_url(settings.MEMORY_REDIS_URL)
        self._user = User.objects.create(username=f"bench-{uuid.uuid4().hex}")
        self._sessions = Sessions(self._user, count=sessions, messages=messages)
        self._keys = [window.keys_of(conversation) for conversation in self._sessions.conversations]
        self._aside = f"tacit:bench:{self._user.pk}"
        nobodys = Conversation.objects.create(user=self._user, flow_id=FLOW_ID, flow_name="bench", flow_version=1)
        self._table = bare.Table(psycopg.connect(os.environ["DATABASE_URL"]), nobodys)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        kept = {name for keys in self._keys for name in (keys.messages, keys.meta, keys.summary, keys.sessions)}
        self._redis.delete(*kept, *(f"{self._aside}:{part}" for part in bare.PARTS))
        self._table.close()
        self._user.delete()

    def weight(self) -> tuple[int, int]:
        """Bytes that Redis holds for the sessions, and those of the values that were put in."""
        index = self._keys[0].sessions
        held, payload = self._redis.memory_usage(index, samples=0), sum(map(len, self._redis.zrange(index, 0, -1)))
        for keys in self._keys:
            held += sum(self._redis.memory_usage(name, samples=0) for name in (keys.messages, keys.meta))
            values = [*self._redis.lrange(keys.messages, 0, -1), *self._redis.hvals(keys.meta)]
            payload += sum(map(len, values))
        return held, payload

    def reads(self) -> Ways:
        """Reading the session of a turn that has just begun."""
        sessions = cycle(self._sessions.conversations)

        def ours() -> Work:
            conversation = next(sessions)
            turn = Turn(conversation=conversation, user_id=self._user.pk, seq=conversation.last_seq + 1)
            return lambda: self._whole(self._manager.inject_memory(self._user, conversation=conversation, turn=turn))

        keys = cycle(self._keys)
        return {
            "(a) bare pipeline": lambda: partial(bare.read, self._redis, next(keys)),
            "inject_memory": ours,
        }

    def records(self) -> Ways:
        """Recording the answer of a turn that runs."""
        ids = cycle([conversation.pk for conversation in self._sessions.conversations])
        exchanges = self._exchanges()

        def ours() -> Work:
            opened, outcome = self._sessions.open(next(ids)), self._sessions.outcome()
            record = partial(self._manager.record_exchange, self._user, conversation=opened.conversation)
            return lambda: self._stored(record(turn=opened.turn, outcome=outcome))

        def write() -> Work:
            return partial(bare.write, self._redis, self._aside, next(exchanges)[0], kept=self._messages)

        def insert() -> Work:
            return partial(self._table.insert, *next(exchanges)[1])

        def both() -> Work:
            first, second = write(), insert()
            return lambda: (first(), second())

        return {
            "(a) bare pipeline": write,
            "(b) bare insert and commit": insert,
            "(a) and then (b)": both,
            "record_exchange": ours,
        }

    def _exchanges(self) -> Iterator[tuple[list[bytes], tuple[str, ...]]]:
        """The bytes of further turns, as Redis and as PostgreSQL take them."""
        while True:
            words, outcome = self._sessions.words(), self._sessions.outcome()
            turn = Turn(seq=41, input=words, output=outcome.output)
            as_text: list[Any] = [orjson.dumps(value).decode() for value in (outcome.usage, outcome.memory_used)]
            yield window.items_of(turn), (words, outcome.output, *as_text)

    def _whole(self, recalled: Any) -> None:
        assert len(recalled.messages) == self._messages
        assert not recalled.missing

    def _stored(self, missing: tuple[str, ...]) -> None:
        assert not missing


def servers() -> str:
    """Which servers these are, and what they do for durability."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version'), current_setting('fsync')")
        version, fsync = cursor.fetchone()
        cursor.execute("SHOW synchronous_commit")
        commit = cursor.fetchone()[0]
    client = redis.Redis.from_url(settings.MEMORY_REDIS_URL)
    kept = "on" if client.info("persistence")["aof_enabled"] else "off"
    return f"PostgreSQL {version.split()[0]}, fsync {fsync}, synchronous_commit {commit}; Redis with its AOF {kept}"
