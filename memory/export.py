"""Everything that is held about one person, as one JSON document that is written piece by piece.

Rows are read in pages, so that neither this process nor the database keeps the whole of it, however much there is.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from functools import partial
from typing import Any

import orjson
from django.db import close_old_connections
from django.db.models import QuerySet
from django.utils import timezone

from memory.models import (
    Conversation,
    DeadLetter,
    Entity,
    Episode,
    ForgetfulFlow,
    MemoryOwner,
    Relation,
    SharedConversation,
    TokenUse,
    Tombstone,
    Turn,
)
from memory.person import Person
from memory.signals import exporting

SCHEMA_VERSION = 1
"""Raised whenever a name changes or goes; new ones may come without."""
PAGE = 50
CHUNK = 64 * 1024
"""Bytes that are sent at once."""
SESSION = (
    *("flow_id", "flow_name", "flow_version", "title", "title_source", "memory_enabled", "important", "summary"),
    *("created_at", "last_active_at"),
)
TURN = (
    *("seq", "status", "input", "inputs", "output", "started_at", "finished_at", "memory_enabled", "client_turn_id"),
    *("usage", "memory_used", "error_code", "rating", "rating_reason", "shared_for_review"),
)
EPISODE = (
    *("title", "summary", "keywords", "importance", "status", "origin", "pinned", "edited", "flow_id"),
    *("occurred_from", "occurred_to", "created_at", "updated_at"),
)


def pieces(user: Person) -> Iterator[bytes]:
    """The document in pieces of UTF-8, nothing in it escaped that JSON lets stand."""
    yield b'{"schema_version":%d,"exported_at":%b' % (SCHEMA_VERSION, _json(timezone.now()))
    for name, section in _sections(user):
        yield b",\n%b:" % _json(name)
        yield from _listed(section) if isinstance(section, Iterator) else [_json(section)]
    yield b"}\n"


async def streamed(made: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The pieces in chunks, made in a thread that gives its connection back while a chunk is on its way."""
    while chunk := await asyncio.to_thread(_chunk, made):
        yield chunk


def _chunk(made: Iterator[bytes]) -> bytes:
    chunk = bytearray()
    try:
        while len(chunk) < CHUNK and (piece := next(made, None)) is not None:
            chunk += piece
    finally:
        close_old_connections()
    return bytes(chunk)


def _sections(user: Person) -> Iterator[tuple[str, Any]]:
    """What memory holds, and what the packages above add to it."""
    switches = MemoryOwner.objects.filter(user_id=user.pk).values("memory_enabled", "portrait_enabled").first()
    off = ForgetfulFlow.objects.of(user).values("flow_id", "flow_name")
    yield "settings", (switches or {"memory_enabled": True, "portrait_enabled": True}) | {"flows_off": list(off)}
    answers: list[tuple[Any, Any]] = exporting.send(sender=type(user), user=user)
    for _receiver, told in answers:
        yield from told.items()
    yield "sessions", _sessions(user)
    yield "episodes", map(_episode, _paged(Episode.objects.of(user).prefetch_related("turns", "entities")))
    entities = Entity.objects.of(user).prefetch_related("episodes")
    yield "entities", ({"id": row.pk, "name": row.name, "type": row.kind, **_of(row)} for row in _paged(entities))
    relations = Relation.objects.of(user).select_related("source", "target").prefetch_related("episodes")
    yield "relations", map(_relation, _paged(relations))
    shared = SharedConversation.objects.of(user)
    yield "shared_links", (_fields(row, "token", "last_seq", "created_at") | _of(row) for row in _paged(shared))
    letters = DeadLetter.objects.filter(user_id=user.pk)
    yield "unread_stretches", (_fields(row, "from_seq", "to_seq", "error", "created_at") for row in _paged(letters))
    stones = _paged(Tombstone.objects.of(user))
    yield "deleted_memories", (_fields(row, "turn_id", "answer_only", "created_at") for row in stones)
    spent = _paged(TokenUse.objects.of(user))
    yield "token_use", (_fields(row, "day", "kind", "calls", "prompt_tokens", "completion_tokens") for row in spent)


def _sessions(user: Person) -> Iterator[Callable[[], Iterator[bytes]]]:
    """Each session as its own pieces: one alone may be larger than all else."""
    for session in _paged(Conversation.objects.visible_to(user)):
        yield partial(_session, user, session)


def _session(user: Person, session: Conversation) -> Iterator[bytes]:
    fields = {"session_id": session.pk} | _fields(session, *SESSION)
    yield _json(fields)[:-1] + b',"turns":'
    turns = Turn.objects.visible_to(user).filter(conversation=session)
    yield from _listed(map(_turn, _paged(turns)))
    yield b"}"


def _turn(turn: Turn) -> dict[str, Any]:
    return {"turn_id": turn.pk, "replaces": turn.replaces_id} | _fields(turn, *TURN)


def _episode(episode: Episode) -> dict[str, Any]:
    turns = sorted(episode.turns.all(), key=lambda turn: turn.seq)
    return {
        "id": episode.pk,
        "session_id": episode.conversation_id,
        "turn_ids": [turn.pk for turn in turns],
        "merged_into": episode.merged_into_id,
        "entities": [entity.name for entity in episode.entities.all()],
    } | _fields(episode, *EPISODE)


def _relation(relation: Relation) -> dict[str, Any]:
    fields = _fields(relation, "relation", "valid_from", "invalid_at")
    return {"id": relation.pk, "source": relation.source.name, "target": relation.target.name} | fields | _of(relation)


def _of(row: Any) -> dict[str, Any]:
    """Where a row comes from."""
    if isinstance(row, SharedConversation):
        return {"session_id": row.conversation_id}
    return {"episode_ids": [episode.pk for episode in row.episodes.all()]}


def _paged(rows: "QuerySet[Any]") -> Iterator[Any]:
    """The rows by their keys, a page at a time: no cursor stays open while somebody's line is slow."""
    last = None
    while True:
        page = list((rows if last is None else rows.filter(pk__gt=last)).order_by("pk")[:PAGE])
        yield from page
        if len(page) < PAGE:
            return
        last = page[-1].pk


def _fields(row: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


def _listed(items: Iterable[Any]) -> Iterator[bytes]:
    """A JSON list, an item a line. An item that is callable gives its own pieces."""
    mark = b"["
    for item in items:
        yield mark + b"\n"
        yield from item() if callable(item) else [_json(item)]
        mark = b","
    yield b"[]" if mark == b"[" else b"\n]"


def _json(value: Any) -> bytes:
    """Text is made safe when it comes in; what was stored before that, or by hand, must not break a whole export."""
    try:
        return orjson.dumps(value, option=orjson.OPT_UTC_Z)
    except orjson.JSONEncodeError:
        return json.dumps(value, ensure_ascii=True, default=str).encode()
