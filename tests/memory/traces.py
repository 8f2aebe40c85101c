"""Where a word still stands: every column of every table, every key of Redis, whoever put it there."""

from collections.abc import Collection
from typing import Any

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from tests.memory.hot_copy import redis

COLUMNS = """
SELECT table_name, column_name FROM information_schema.columns JOIN information_schema.tables USING (table_name)
WHERE columns.table_schema = 'public' AND table_type = 'BASE TABLE'
"""


def in_tables(*words: str) -> set[str]:
    """`table.column` for every column in which one of the words stands, in any case of letters."""
    found = set()
    with connection.cursor() as cursor:
        cursor.execute(COLUMNS)
        for table, column in cursor.fetchall():
            like = [f"%{word}%" for word in words]
            cursor.execute(f'SELECT 1 FROM "{table}" WHERE "{column}"::text ILIKE ANY(%s) LIMIT 1', [like])  # noqa: S608
            found |= {f"{table}.{column}"} if cursor.fetchone() else set()
    return found


def in_redis(*words: str) -> set[str]:
    """The keys in whose name or content one of the words stands."""
    escaped = [repr(word.encode())[2:-1] for word in words]
    said = {key.decode(): repr((key, content(key))) for key in redis().keys("*")}
    return {key for key, text in said.items() if any(word in text for word in escaped)}


def content(key: bytes) -> Any:
    """What a key holds, of whatever type it is."""
    readers = {
        b"string": redis().get,
        b"hash": redis().hgetall,
        b"set": redis().smembers,
        b"list": lambda key: redis().lrange(key, 0, -1),
        b"zset": lambda key: redis().zrange(key, 0, -1, withscores=True),
        b"stream": redis().xrange,
        b"none": lambda _: None,  # it expired just now
    }
    return readers[redis().type(key)](key)


def dump(*, without: Collection[str] = ()) -> dict[str, list[str]]:
    """Every row of every table as text, sorted, for a look at what has changed."""
    rows = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            if table not in {*without, MigrationRecorder.Migration._meta.db_table}:
                cursor.execute(f'SELECT t::text FROM "{table}" t')  # noqa: S608
                rows[table] = sorted(row[0] for row in cursor.fetchall())
    return rows
