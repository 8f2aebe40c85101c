"""The least that the stores could cost: the same bytes through a bare client, without any of our code around it."""

import uuid
from collections.abc import Sequence

import psycopg
import redis

from memory.models import Conversation
from memory.window import Keys

INSERT = """
INSERT INTO memory_turn (
    id, conversation_id, user_id, flow_id, seq, input, output, status, usage, memory_used, memory_enabled, error_code,
    rating, rating_reason, shared_for_review, stop_requested, inputs, started_at, finished_at
) VALUES (%s, %s, %s, %s, %s, %s, %s, 'complete', %s, %s, true, '', '', '', false, false, '{}', now(), now())
"""
PARTS = ("messages", "meta", "sessions")
WEEK, MONTH = 7 * 24 * 3600, 30 * 24 * 3600


def read(client: redis.Redis, keys: Keys) -> None:
    """What a turn needs of its session, in one trip."""
    pipe = client.pipeline(transaction=False)
    pipe.lrange(keys.messages, 0, -1)
    pipe.hmget(keys.meta, ["last_seq", "revision"])
    pipe.get(keys.summary)
    pipe.execute()


def write(client: redis.Redis, stem: str, items: Sequence[bytes], *, kept: int) -> None:
    """One turn of a hot copy that is nobody's, in one trip."""
    pipe = client.pipeline(transaction=False)
    pipe.rpush(f"{stem}:messages", *items)
    pipe.ltrim(f"{stem}:messages", -kept, -1)
    meta = {"last_active_at": "2026-11-30T08:00:00.000000Z", "last_seq": 42, "covers_seq": 0, "revision": 0}
    pipe.hset(f"{stem}:meta", mapping=meta)
    pipe.zadd(f"{stem}:sessions", {stem: 1.0})
    for part, seconds in zip(PARTS, (WEEK, WEEK, MONTH), strict=True):
        pipe.expire(f"{stem}:{part}", seconds)
    pipe.execute()


class Table:
    """The table of turns, written to by one bare connection, in a session that holds nothing else."""

    def __init__(self, connection: psycopg.Connection, conversation: Conversation) -> None:
        self._connection, self._conversation = connection, conversation
        self._seq = -1

    def insert(self, words: str, answer: str, usage: str, memory_used: str) -> None:
        """One turn, inserted and committed."""
        self._seq += 2
        session = self._conversation
        values = [
            uuid.uuid4(),
            session.pk,
            session.user_id,
            session.flow_id,
            self._seq,
            words,
            answer,
            usage,
            memory_used,
        ]
        self._connection.execute(INSERT, values)
        self._connection.commit()

    def close(self) -> None:
        self._connection.close()
