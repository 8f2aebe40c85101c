"""Many people's units for `bench.search_scale`: made by chance, loaded with COPY, interleaved as life brings them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.contrib.auth.models import User
from django.db import connection, models

from memory.models import Conversation, Turn, TurnStatus, Unit, UnitKind, VectorModel

DIMENSION = 512
TEMPLATES = 20_000
VOCABULARY = 30_000
TOKENS = 60
"""Of a unit on average, most of them different: a question and an answer of some 80 Chinese characters."""
MODEL = "bench"
SYLLABLES = "的项目进度计划会议报告数据分析客户需求测试上线预算合同系统设计开发部署文档周报培训采购财务"
TABLES = (
    "memory_posting, memory_unitvector, memory_unit, memory_turn, memory_conversation, memory_vectormodel, auth_user"
)

POSTING_INDEXES = """
ALTER TABLE memory_posting ADD CONSTRAINT memory_posting_pkey
    PRIMARY KEY (user_id, token, unit_id) INCLUDE (tf, length);
CREATE INDEX posting_of_unit ON memory_posting (unit_id)
"""
POST = """
INSERT INTO memory_posting (unit_id, user_id, length, tf, token)
SELECT number, owner, template.length, said.tf, said.token
FROM bench_unit JOIN bench_template template ON template.id = bench_unit.template,
    unnest(template.tokens, template.tfs) AS said (token, tf)
"""
LONG_AGO = "now() - (number %% 300) * interval '1 day'"


@dataclass(frozen=True)
class Stage:
    """What is loaded: how many units each owner has, and the words there are with how often each is said."""

    sizes: dict[int, int]
    words: list[str]
    shares: Any

    def owner_of_about(self, size: int) -> int:
        """The owner whose number of units is nearest to `size`."""
        return min(self.sizes, key=lambda owner: abs(self.sizes[owner] - size))


def load(sizes: list[int]) -> Stage:
    """Fills the empty tables: one owner for each size, their units in an order by chance."""
    chance = np.random.default_rng(7)
    words = _words(chance)
    shares = 1 / (np.arange(VOCABULARY) + 30)  # the commonest word stands in about a third of the units
    shares /= shares.sum()
    with connection.cursor() as cursor:
        cursor.execute(
            "SET synchronous_commit = off; SET maintenance_work_mem = '1500MB'; SET work_mem = '256MB'; "
            "SET session_replication_role = replica"  # no checks row by row of what is right by making
        )
        cursor.execute(f"TRUNCATE {TABLES} CASCADE")
        cursor.execute("ALTER TABLE memory_posting DROP CONSTRAINT memory_posting_pkey; DROP INDEX posting_of_unit")
        User.objects.bulk_create(
            User(username=f"owner{number}", password="!")  # noqa: S106
            for number in range(len(sizes))
        )
        owners = list(User.objects.order_by("pk").values_list("pk", flat=True))
        _copy_templates(cursor, words, shares, chance)
        order = chance.permutation(np.repeat(np.array(owners), sizes))
        _copy_units(cursor, order, chance)
        _fill(cursor)
        cursor.execute(POST)
        cursor.execute(POSTING_INDEXES)
        _copy_vectors(cursor, order, chance)
        cursor.execute("SELECT setval('memory_unit_id_seq', %s)", [len(order)])
        cursor.execute("DROP TABLE bench_unit; DROP TABLE bench_template")
        for table in ("memory_unit", "memory_posting", "memory_unitvector", "memory_turn", "memory_conversation"):
            cursor.execute(f"VACUUM (ANALYZE) {table}")  # as autovacuum would in time
        cursor.execute("CHECKPOINT")
    return Stage(dict(zip(owners, sizes, strict=True)), words, shares)


def _words(chance: Any) -> list[str]:
    """Half pairs of Chinese characters, half English words."""
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    english = {"".join(chance.choice(letters, chance.integers(4, 9))) for _ in range(VOCABULARY)}
    pairs = {chr(0x4E00 + first) + chr(0x4E00 + second) for first, second in chance.integers(0, 3000, (VOCABULARY, 2))}
    mixed = [word for both in zip(sorted(english), sorted(pairs), strict=False) for word in both][:VOCABULARY]
    chance.shuffle(mixed)
    return mixed


def _copy_templates(cursor: Any, words: list[str], shares: Any, chance: Any) -> None:
    cursor.execute(
        "CREATE UNLOGGED TABLE bench_template (id int, tokens text[], tfs smallint[], length int, text text)"
    )
    upto = np.cumsum(shares)[:-1]
    lengths = np.clip(chance.lognormal(np.log(TOKENS) - 0.18, 0.6, TEMPLATES), 10, 600).astype(int)
    with cursor.copy("COPY bench_template FROM STDIN") as copy:
        for number, length in enumerate(lengths):
            said, times = np.unique(np.searchsorted(upto, chance.random(length)), return_counts=True)
            text = "".join(words[word] for word in said)
            copy.write_row((number, [words[word] for word in said], times.tolist(), int(length), text))


def _copy_units(cursor: Any, order: Any, chance: Any) -> None:
    """Sessions of ten turns; whose turn comes next is chance."""
    cursor.execute(
        "CREATE UNLOGGED TABLE bench_unit (number bigint, owner int, template int, session uuid, place int, turn uuid)"
    )
    templates = chance.integers(0, TEMPLATES, len(order))
    spoken: dict[int, int] = {}
    with cursor.copy("COPY bench_unit FROM STDIN") as copy:
        for number, (owner, template) in enumerate(zip(order.tolist(), templates.tolist(), strict=True), start=1):
            before = spoken[owner] = spoken.get(owner, -1) + 1
            session = f"{owner:08x}-0000-4000-8000-{before // 10:012x}"
            turn = f"{owner:08x}-0000-4000-9000-{before:012x}"
            copy.write(f"{number}\t{owner}\t{template}\t{session}\t{before % 10}\t{turn}\n")


def _fill(cursor: Any) -> None:
    """Sessions, turns and units."""
    turn = {"flow_id": "1 + owner %% 5", "seq": "2 * place + 1", "user_id": "owner"}
    session = Conversation(flow_name="通用助手", flow_version=1, title="项目进度", last_seq=20, indexed_seq=20)
    _insert(cursor, session, "bench_unit WHERE place = 0", id="session", user_id="owner", flow_id="1 + owner %% 5")
    asked = Turn(input="问", output="答", status=TurnStatus.COMPLETE)
    _insert(cursor, asked, "bench_unit", id="turn", conversation_id="session", started_at=LONG_AGO, **turn)
    unit = Unit(kind=UnitKind.TURN, tokens_version=1, answer_at=20)
    said = {"text": "template.text", "context": "left(template.text, 120)", "length": "template.length"}
    place = {"id": "number", "turn_id": "turn", "conversation_id": "session", "occurred_at": LONG_AGO}
    templates = "bench_unit JOIN bench_template template ON template.id = bench_unit.template ORDER BY number"
    _insert(cursor, unit, templates, **place, **said, **turn)


def _insert(cursor: Any, row: models.Model, source: str, **columns: str) -> None:
    """Rows like `row`, one for each of `source`, with these columns from there."""
    fields = [field for field in row._meta.concrete_fields if not field.generated]
    names = ", ".join(field.column for field in fields)
    selected = ", ".join(columns.get(field.attname, "%s") for field in fields)
    values = [
        field.get_db_prep_save(getattr(row, field.attname), connection)
        for field in fields
        if field.attname not in columns
    ]
    statement = f"INSERT INTO {row._meta.db_table} ({names}) SELECT {selected} FROM {source}"  # noqa: S608  # ours
    cursor.execute(statement, values)


def _copy_vectors(cursor: Any, order: Any, chance: Any) -> None:
    model = VectorModel.objects.create(name=MODEL, dimension=DIMENSION)
    with cursor.copy(
        "COPY memory_unitvector (unit_id, user_id, model_id, embedding) FROM STDIN (FORMAT BINARY)"
    ) as copy:
        copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
        for rows in _vector_rows(order, model.pk, chance):
            copy.write(rows)
        copy.write(b"\xff\xff")


def _vector_rows(order: Any, model: int, chance: Any) -> Iterator[bytes]:
    """The rows as PostgreSQL's binary COPY has them: each column behind its length."""
    row = np.dtype(
        [
            *[("columns", ">i2"), ("l1", ">i4"), ("unit", ">i8"), ("l2", ">i4"), ("user", ">i4"), ("l3", ">i4")],
            *[("model", ">i2"), ("l4", ">i4"), ("dimension", ">i2"), ("unused", ">i2"), ("values", ">f2", DIMENSION)],
        ]
    )
    for first in range(0, len(order), 20_000):
        part = order[first : first + 20_000]
        rows = np.zeros(len(part), row)
        rows["columns"], rows["l1"], rows["l2"], rows["l3"], rows["l4"] = 4, 8, 4, 2, 4 + 2 * DIMENSION
        rows["unit"], rows["user"] = np.arange(first + 1, first + 1 + len(part)), part
        rows["model"], rows["dimension"] = model, DIMENSION
        values = chance.standard_normal((len(part), DIMENSION), dtype=np.float32)
        rows["values"] = values / np.linalg.norm(values, axis=1, keepdims=True)
        yield rows.tobytes()
