"""Starting, following and stopping turns: what sockets, SSE and REST share."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing, suppress
from typing import Any, ParamSpec, TypeVar
from uuid import UUID

from django.db import connection
from django.utils import translation

from flows import runner, threads
from flows.answering import Opened
from flows.endings import ERASED, closing_event, outcome_of
from flows.events import Event, TurnLog
from flows.markdown import render
from flows.proposals import action_of
from flows.turn import FlowTurn
from memory.manager import MemoryManager
from memory.models import Turn
from memory.person import Person
from memory.turns import request_stop

P = ParamSpec("P")
T = TypeVar("T")
LOOK_SECONDS = 2.0
"""How often a listener of another process's turn asks PostgreSQL whether it still runs."""


async def begin(opening: Callable[P, Opened], *args: P.args, **kwargs: P.kwargs) -> UUID:
    """Opens a turn and starts to answer it; the repeat of a request gives the turn that it opened first.

    `opening` is one of the ways in `flows.answering`, called in a thread.
    """
    host = runner.current()
    host.require_accepting()

    async def opened() -> UUID:
        made = await threads.run(opening, *args, **kwargs)
        if made.run:
            host.launch(made.run)
        return made.turn_id

    # A caller who leaves now must not leave behind a saved question that nobody answers.
    return await asyncio.shield(asyncio.ensure_future(opened()))


def begin_from_thread(opening: Callable[P, Opened], *args: P.args, **kwargs: P.kwargs) -> UUID:
    """As `begin`, in the thread of a synchronous view: opened there, so that only the launch has to change threads."""
    host = runner.current()
    host.require_accepting()
    made = opening(*args, **kwargs)
    if made.run:
        host.loop.call_soon_threadsafe(_launch, host, made.run, translation.get_language())
    return made.turn_id


def _launch(host: runner.Runner, turn: FlowTurn, language: str | None) -> None:
    """Launches the turn in the language of the request, which Django lets not cross over from its thread."""
    with translation.override(language):
        host.launch(turn)


async def stop(user: Person, turn_id: UUID) -> None:
    """Stops a turn of `user`, whichever process runs it.

    Raises TurnNotFound for a foreign or missing one.
    """
    await threads.run(request_stop, user, turn_id)
    await runner.current().stop_everywhere(turn_id)


async def follow(user: Person, turn_id: UUID, *, after: int = 0, html: bool = True) -> AsyncGenerator[Event, None]:
    """The events of a turn of `user` with numbers above `after`, those to come included, up to the terminal one.

    From memory when the turn runs here, which takes no look into the database: whoever begins a turn would wait for
    it before the first word. Else from its stream, else from what PostgreSQL holds.
    Raises TurnNotFound for a foreign or missing turn.
    """
    log = runner.current().log_of(user, turn_id)
    if log is None:
        turn = await threads.run(MemoryManager().get_turn, user, turn_id)
        events = _remote(turn, after=after, html=html)
    else:
        events = log.follow(after=after, html=html)
    async with aclosing(events):
        async for event in events:
            yield event


async def finished(user: Person, turn_id: UUID) -> Turn:
    """Waits for a turn's end and returns its row."""
    async with aclosing(follow(user, turn_id)) as events:
        async for _event in events:
            pass
    return await threads.run(MemoryManager().get_turn, user, turn_id)


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """Runs async work on the runner's loop from a thread of a synchronous view."""
    # The work needs a connection of its own: views that wait for it with theirs in hand would use up the pool.
    if not connection.in_atomic_block:  # a test's transaction lives on
        connection.close()
    return asyncio.run_coroutine_threadsafe(work, runner.current().loop).result()


async def with_pauses(events: AsyncGenerator[T, None], *, seconds: float) -> AsyncGenerator[T | None, None]:
    """The items, and None whenever none came for `seconds`."""
    coming: asyncio.Task[T] | None = None
    try:
        while True:
            coming = coming or asyncio.ensure_future(anext(events))
            done, _ = await asyncio.wait({coming}, timeout=seconds)
            if not done:
                yield None
                continue
            task, coming = coming, None
            try:
                item = task.result()
            except StopAsyncIteration:
                return
            yield item
    finally:
        if coming:
            coming.cancel()
            with suppress(asyncio.CancelledError, StopAsyncIteration):
                await coming
        await events.aclose()


async def _remote(turn: Turn, *, after: int, html: bool) -> AsyncGenerator[Event, None]:
    async with runner.current().relay.mirror(turn.pk) as log:
        if not turn.is_running:
            _complete(log, turn, await threads.run(action_of, turn))
        events = with_pauses(log.follow(after=after, html=html), seconds=LOOK_SECONDS)
        async with aclosing(events):
            async for event in events:
                if event is not None:
                    yield event
                elif not (turn := await threads.run(_turn_again, turn)).is_running:
                    _complete(log, turn, await threads.run(action_of, turn))


def _turn_again(turn: Turn) -> Turn:
    """The row as it is now; one that was erased meanwhile ends with words that say so."""
    now = Turn.objects.filter(pk=turn.pk, user_id=turn.user_id).select_related("conversation").first()
    if now is None:
        turn.status, turn.output, turn.error_code = ERASED.status, "", ERASED.error_code
    return now or turn


def _complete(log: TurnLog, turn: Turn, action: dict[str, Any] | None) -> None:
    """Adds what a log lacks of an ended turn: its process died, or its stream has expired."""
    if log.is_closed:
        return
    if not log.events:
        log.emit("turn.started", session_id=str(turn.conversation_id), seq=turn.seq)
    heard = log.text
    if turn.output.startswith(heard) and len(turn.output) > len(heard):
        log.emit("delta", text=turn.output[len(heard) :])
    if action and not any(event.type == "action.proposed" for event in log.events):
        log.emit("action.proposed", **{name: action[name] for name in ("action_id", "kind", "card")})
    kind, data = closing_event(outcome_of(turn), html=render(turn.output))
    log.emit(kind, **data)
