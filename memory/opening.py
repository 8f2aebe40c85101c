"""Opening a turn in the usual case: one statement in autocommit, so one trip and one commit.

A turn is opened while a person waits, and by many at once: Django's five statements between BEGIN and COMMIT took
ten times the CPU of this one, most of it to write them. Whatever is unusual makes it change nothing, and
`memory.turns` then looks at each case by itself: a repeat, a running turn, a foreign session.
"""

from functools import cache
from typing import Any

from django.db import connection, models

from llm.text import shortened
from memory.models import Conversation, MemoryOwner, Turn
from memory.redaction import redact

TITLE_CHARS = 40
LOOKED_AT = 400
"""Characters of a message that its title is made from."""

# Under READ COMMITTED two that open at once may both find nothing: then a unique constraint refuses the later one.
FREE = """
WITH owner AS (
    SELECT memory_enabled FROM memory_memoryowner WHERE user_id = %s
), new_owner AS (
    INSERT INTO memory_memoryowner ({owner_columns}) SELECT {owner_values} WHERE NOT EXISTS (SELECT FROM owner)
    ON CONFLICT DO NOTHING RETURNING memory_enabled
), free AS (
    SELECT memory_enabled
        AND NOT EXISTS (SELECT FROM memory_forgetfulflow WHERE user_id = %s AND flow_id = %s) AS memory_enabled
    FROM (SELECT * FROM owner UNION ALL SELECT * FROM new_owner) either
    WHERE NOT EXISTS (SELECT FROM memory_turn turn WHERE user_id = %s AND flow_id = %s AND client_turn_id = %s)
)"""

FIRST = """{free}, session AS (
    INSERT INTO memory_conversation ({session_columns}) SELECT {session_values} FROM free
)
INSERT INTO memory_turn ({turn_columns}) SELECT {turn_values} FROM free RETURNING seq, memory_enabled
"""

NEXT = """{free}, session AS (
    UPDATE memory_conversation session SET last_seq = last_seq + 2, last_active_at = %s FROM free
    WHERE id = %s AND user_id = %s AND flow_id = %s
    AND NOT EXISTS (SELECT FROM memory_turn turn WHERE turn.conversation_id = session.id AND status = 'running')
    RETURNING {session_columns}, free.memory_enabled AS may_remember
), turn AS (
    INSERT INTO memory_turn ({turn_columns}) SELECT {turn_values} FROM session RETURNING seq, memory_enabled
)
SELECT turn.seq, turn.memory_enabled, {columns_read} FROM session, turn
"""


def begin_session(turn: Turn) -> bool:
    """Saves the first turn of a session and the session, both made but not saved. False: nothing was changed.

    `turn.memory_enabled` is what the request and the flow allow; then it also says what its owner allows.
    """
    session = turn.conversation
    values = [*_free_for(turn), *_values(session), *_values(turn)]
    found = _row(_first(), values)
    if found is None:
        return False
    _saved(session)
    _take(turn, found)
    return True


def continue_session(turn: Turn) -> bool:
    """Saves the next turn of the session `turn.conversation_id`. False: nothing was changed.

    The turn gets its number and its session's row; `turn.memory_enabled` is narrowed by the session and its owner.
    """
    place = [turn.started_at, turn.conversation_id, turn.user_id, turn.flow_id]
    found = _row(_next(), [*_free_for(turn), *place, *_values(turn, without="seq")])
    if found is None:
        return False
    names = [field.attname for field in _fields(Conversation)]
    turn.conversation = Conversation.from_db(connection.alias, names, found[2:])
    _take(turn, found)
    return True


@cache
def _first() -> str:
    return FIRST.format(
        free=_free(),
        session_columns=_columns(Conversation),
        session_values=_placeholders(Conversation),
        turn_columns=_columns(Turn),
        turn_values=_selected(memory_enabled="free.memory_enabled AND %s"),
    )


@cache
def _next() -> str:
    return NEXT.format(
        free=_free(),
        session_columns=_columns(Conversation, of="session."),
        columns_read=_columns(Conversation, of="session."),
        turn_columns=_columns(Turn),
        turn_values=_selected(
            seq="session.last_seq - 1", memory_enabled="session.may_remember AND session.memory_enabled AND %s"
        ),
    )


def _free() -> str:
    return FREE.format(owner_columns=_columns(MemoryOwner), owner_values=_placeholders(MemoryOwner))


def _fields(model: type[models.Model]) -> list[Any]:
    """The columns that are written; taken from the model, so that a new one needs no change here."""
    return [field for field in model._meta.concrete_fields if not field.generated]


def _columns(model: type[models.Model], *, of: str = "") -> str:
    return ", ".join(of + connection.ops.quote_name(field.column) for field in _fields(model))


def _placeholders(model: type[models.Model]) -> str:
    return ", ".join(["%s"] * len(_fields(model)))


def _selected(**expressions: str) -> str:
    return ", ".join(expressions.get(field.attname, "%s") for field in _fields(Turn))


def _values(row: models.Model, *, without: str = "") -> list[Any]:
    return [
        field.get_db_prep_save(field.pre_save(row, add=True), connection)
        for field in _fields(type(row))
        if field.attname != without
    ]


def _free_for(turn: Turn) -> list[Any]:
    owner = MemoryOwner(user_id=turn.user_id)
    return [owner.pk, *_values(owner), *(turn.user_id, turn.flow_id) * 2, turn.client_turn_id]


def _row(statement: str, values: list[Any]) -> tuple[Any, ...] | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: tuple[Any, ...] | None = cursor.fetchone()
    return found


def _take(turn: Turn, found: tuple[Any, ...]) -> None:
    turn.seq, turn.memory_enabled = found[:2]
    _saved(turn)


def _saved(row: models.Model) -> None:
    row._state.adding, row._state.db = False, connection.alias


def first_words(text: str) -> str:
    """A title until a better one is made: the first line, redacted, cut to about 40 characters."""
    line = " ".join(redact(text[:LOOKED_AT]).split())
    return shortened(line, TITLE_CHARS)
