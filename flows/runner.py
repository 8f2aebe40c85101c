"""The running turns of this process: started, renewed, stopped and drained here, whoever listens or leaves."""

import asyncio
from dataclasses import dataclass
from uuid import UUID

import structlog
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import DatabaseError
from redis.exceptions import RedisError

from flows import groups, notices, threads
from flows.conversation import answer, commit, prepare
from flows.endings import ERASED, NOT_SAVED, closing_event, failure, outcome_of
from flows.errors import NodeFault, ServerStopping
from flows.events import TurnLog
from flows.markdown import render
from flows.plugins import after_all
from flows.proposals import proposed
from flows.relay import Relay
from flows.turn import FlowTurn
from flows.voice import Voice
from memory.errors import TurnNotFound
from memory.models import TurnStatus
from memory.person import Person
from memory.turns import Outcome, heartbeat, keep_partial_text

logger = structlog.get_logger(__name__)
HEARTBEAT_SECONDS = 1.0
STOPS = "tacit.stops"
"""The group over which processes pass on stop requests. PostgreSQL holds them too: this is only faster."""
KEPT_SECONDS = 60
"""How long the log of an ended turn stays at hand in memory."""
LONG_TEXT = 20_000
"""Characters from which partial text is saved only every tenth heartbeat."""


@dataclass(slots=True)
class Running:
    """A turn of this process. `ending` is how it ends when it is cancelled."""

    turn: FlowTurn
    voice: Voice
    answering: asyncio.Task[None]
    ending: TurnStatus = TurnStatus.INTERRUPTED
    saved: int = 0

    def cancel(self, ending: TurnStatus) -> None:
        if not self.answering.done():
            self.ending = ending
            self.answering.cancel()

    def unsaved_text(self, *, beat: int) -> str | None:
        """Partial text for PostgreSQL, so that a killed process loses little; None when nothing is due."""
        text = self.voice.text
        if len(text) == self.saved or (len(text) > LONG_TEXT and beat % 10):
            return None
        self.saved = len(text)
        return text


class Runner:
    """One per process. It belongs to the event loop on which it was made."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.relay = Relay()
        self.accepting = True
        self._running: dict[UUID, Running] = {}
        self._conducting: set[asyncio.Task[None]] = set()
        self._logs: dict[UUID, TurnLog] = {}
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self.relay.start()
        self._tasks = [
            asyncio.create_task(self._beat_forever(), name="heartbeat"),
            asyncio.create_task(self._hear_stops(), name="stop requests"),
        ]

    @property
    def is_idle(self) -> bool:
        """Whether every turn has been seen through, the plugins behind it included."""
        return not self._conducting

    def require_accepting(self) -> None:
        """Raises ServerStopping while the process goes down."""
        if not self.accepting:
            raise ServerStopping

    def log_of(self, user: Person, turn_id: UUID) -> TurnLog | None:
        """The log of a turn of `user` that this process runs, or ran a moment ago."""
        log = self._logs.get(turn_id)
        return log if log and log.user_id == user.pk else None

    def launch(self, turn: FlowTurn) -> None:
        """Begins to answer. The turn goes on whether anybody listens or not."""
        log = self._logs[turn.turn_id] = TurnLog(turn.turn_id, user_id=turn.user.pk)
        voice = Voice(log, self.relay.publish)
        voice.emit("turn.started", session_id=str(turn.conversation.pk), seq=turn.turn.seq)
        answering = asyncio.create_task(answer(turn, voice), name=f"answer {turn.turn_id}")
        running = self._running[turn.turn_id] = Running(turn, voice, answering)
        conducting = asyncio.create_task(self._conduct(running), name=f"turn {turn.turn_id}")
        self._conducting.add(conducting)
        conducting.add_done_callback(self._conducting.discard)

    def stop(self, turn_id: UUID) -> None:
        """Stops a turn of this process: the model's stream is closed, the text so far is kept."""
        running = self._running.get(turn_id)
        if running:
            running.cancel(TurnStatus.STOPPED)

    async def stop_everywhere(self, turn_id: UUID) -> None:
        """Stops a turn here, or asks the other processes to; without Redis they see the request in PostgreSQL."""
        if turn_id in self._running:
            self.stop(turn_id)
            return
        await groups.tell(STOPS, {"type": "turn.stop", "turn_id": str(turn_id)})

    async def drain(self) -> None:
        """Refuses new turns, lets running ones end for `DRAIN_SECONDS`, then commits the rest as interrupted."""
        self.accepting = False
        if self._conducting:
            await asyncio.wait(self._conducting, timeout=settings.DRAIN_SECONDS)
        for running in list(self._running.values()):
            running.cancel(TurnStatus.INTERRUPTED)
        if self._conducting:
            await asyncio.wait(self._conducting, timeout=10)
        for task in self._tasks:
            task.cancel()
        await self.relay.close()

    async def _conduct(self, running: Running) -> None:
        """Sees one turn through to exactly one end, and what comes after."""
        turn, voice = running.turn, running.voice
        try:
            await notices.session_changed(turn.user.pk, turn.conversation.pk)
            await self._finish(running)
        except TurnNotFound:
            await self._forget(running)
            return
        except Exception as error:  # noqa: BLE001  # a fault of ours must leave nobody waiting; the lease ends the row
            logger.error("turn not seen through", turn_id=str(turn.turn_id), error=type(error).__name__)
            running.answering.cancel()
            voice.end(_lost(voice, NodeFault.code), html="")
        del self._running[turn.turn_id]
        self.loop.call_later(KEPT_SECONDS, self._logs.pop, turn.turn_id, None)
        await notices.session_changed(turn.user.pk, turn.conversation.pk)
        await after_all(turn)

    async def _finish(self, running: Running) -> None:
        """Waits for the answer, commits it, and only then tells its end. Raises TurnNotFound when it was erased."""
        voice = running.voice
        await asyncio.wait({running.answering})
        html = voice.finish_blocks()
        try:
            outcome = await commit(running.turn, self._outcome(running))
        except DatabaseError:
            outcome = _lost(voice, NOT_SAVED)
        if outcome.waiting and outcome.waiting == running.turn.waiting:
            voice.emit("action.proposed", **proposed(running.turn))
        voice.end(outcome, html=html)

    async def _forget(self, running: Running) -> None:
        """Ends a turn that was erased while it ran, and leaves nothing of it."""
        turn_id = running.turn.turn_id
        running.voice.end(ERASED, html="")
        del self._running[turn_id], self._logs[turn_id]
        await self.relay.forget(turn_id)

    def _outcome(self, running: Running) -> Outcome:
        task, voice = running.answering, running.voice
        status, code = TurnStatus.COMPLETE, ""
        if task.cancelled():
            status = running.ending
        elif error := task.exception():
            status, code = TurnStatus.FAILED, failure(error)
        return Outcome(
            status=status,
            output=voice.text,
            error_code=code,
            waiting=running.turn.waiting if status is TurnStatus.COMPLETE else None,
            usage=voice.usage,
            memory_used=running.turn.used(),
        )

    async def _beat_forever(self) -> None:
        beat = 0
        while True:
            await asyncio.sleep(HEARTBEAT_SECONDS)
            beat += 1
            try:
                await self._beat(beat)
            except Exception as error:  # noqa: BLE001  # a heart that stops takes all turns of the process with it
                logger.error("heartbeat failed", error=type(error).__name__)

    async def _hear_stops(self) -> None:
        layer = get_channel_layer()
        while True:
            try:
                channel = await layer.new_channel()
                await layer.group_add(STOPS, channel)
                while True:
                    self.stop(UUID((await layer.receive(channel))["turn_id"]))
            except (OSError, RedisError):
                await asyncio.sleep(HEARTBEAT_SECONDS)

    async def _beat(self, beat: int) -> None:
        """Renews this process's turns, saves partial text, obeys stop flags, closes turns of dead processes."""
        held = [(turn_id, running.unsaved_text(beat=beat)) for turn_id, running in self._running.items()]
        pulse = await threads.run(heartbeat, held)
        for turn_id in pulse.stop | pulse.gone:
            self.stop(turn_id)
        for turn_id in pulse.interrupted:
            logger.warning("interrupted a turn of a dead process", turn_id=str(turn_id))
            await self._bury(turn_id)

    async def _bury(self, turn_id: UUID) -> None:
        """Saves what the stream of a dead process's turn holds, and tells its listeners that it has ended."""
        log = TurnLog(turn_id)
        for event in await self.relay.past(turn_id):
            log.add(event)
        turn = await threads.run(keep_partial_text, turn_id, log.text)
        if turn and log.events and not log.is_closed:
            kind, data = closing_event(outcome_of(turn), html=render(turn.output))
            self.relay.publish(log.emit(kind, **data))


def _lost(voice: Voice, code: str) -> Outcome:
    return Outcome(status=TurnStatus.FAILED, output=voice.text, error_code=code)


_current: Runner | None = None


async def start() -> Runner:
    """Makes the process's runner on the running loop."""
    global _current  # the one runner of the process, made by the server's lifespan
    await threads.run(prepare)
    _current = Runner()
    _current.start()
    return _current


def current() -> Runner:
    """The process's runner. Raises ServerStopping in a process that runs no turns."""
    if _current is None:
        raise ServerStopping
    return _current


async def finish() -> None:
    """Drains and forgets the process's runner."""
    global _current
    if _current:
        await _current.drain()
        _current = None
