"""One turn from the question to the durable answer: open, plugins, engine, commit, then the rest.

Opening and committing are done here through `MemoryManager` and never by a plugin: whatever is taken out of
`FLOW_PLUGINS`, a question is saved before a model is called and an answer before its client hears that it is done.
"""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Literal
from uuid import UUID

import structlog
from django.db import DatabaseError
from django.db.models import OuterRef, Subquery

import llm
from flows import engine, proposals, threads
from flows.compiled import Compiled
from flows.definition import Definition
from flows.endings import outcome_of
from flows.errors import FlowNotFound
from flows.models import Flow, FlowVersion
from flows.nodes.base import Reasoning
from flows.plugins import before_all
from flows.steps import NodeFinished, NodeStarted, Paused, Spent, Step, Text, ToolBegan, ToolEnded
from flows.turn import FlowTurn
from flows.voice import Voice
from flows.working import Work
from llm.errors import ModelEmpty
from memory.errors import TurnEnded, TurnNotFound
from memory.manager import MemoryManager
from memory.models import Conversation, Turn
from memory.person import Person
from memory.telemetry import storing
from memory.turns import Outcome, TurnRequest, keep_partial_text
from profiles.models import UserProfile

logger = structlog.get_logger(__name__)
COMMIT_PAUSES = (0.2, 1.0, 3.0)
"""Seconds to wait before trying again to commit an answer that PostgreSQL refused."""


@dataclass(frozen=True, slots=True)
class Command:
    """A client's wish to say something in a flow."""

    flow_id: int
    input: str
    session_id: UUID | None = None
    client_turn_id: str | None = None
    memory: bool | None = None
    edit_of: UUID | None = None
    inputs: dict[str, Any] = field(default_factory=dict)


def open_turn(user: Person, command: Command) -> tuple[FlowTurn, bool]:
    """Checks the right to the flow and saves the question; False when this very request had done so before.

    Raises FlowNotFound and the errors of `memory.turns.open_turn`.
    """
    flow_id, name, version, model = _flow_and_version(user, command)
    definition = published(flow_id, version)
    opened = MemoryManager().open_turn(
        user,
        TurnRequest(
            flow_id=flow_id,
            flow_name=name,
            flow_version=version,
            input=command.input,
            session_id=command.session_id,
            client_turn_id=command.client_turn_id,
            memory=command.memory,
            flow_memory=definition.settings.memory,
            replaces=command.edit_of,
            inputs=command.inputs,
        ),
    )
    turn = FlowTurn(
        user=user,
        conversation=opened.conversation,
        turn=opened.turn,
        definition=definition,
        profile=llm.recent_profile(model or None),
        inputs=command.inputs | {"input": opened.turn.input},
    )
    return turn, opened.fresh


def prepare() -> None:
    """Writes the statements that the first turn of a process would else wait for."""
    _flow_by("pk"), _flow_by("turns")


def usable_flow(user: Person, flow_id: int) -> tuple[Any, ...] | None:
    """`(id, name, published version, None)` of a flow that `user` may use, else None."""
    found = _flow_by("pk").first(user=user.pk, flow=flow_id, within=None)
    return found and found[:4]


def _flow_and_version(user: Person, command: Command) -> tuple[int, str, int, str | None]:
    """The flow's id and name, its version that the session began with, and the model that the person chose.

    For a new session it is the published version.
    """
    replaced = command.edit_of if command.session_id is None else None
    found = _flow_by("turns" if replaced else "pk").first(
        user=user.pk, flow=command.flow_id, within=replaced or command.session_id
    )
    if found is None:
        raise FlowNotFound
    flow_id, name, published_version, pinned_version, model = found
    return flow_id, name, pinned_version or published_version, model


@cache
def _flow_by(within: Literal["pk", "turns"]) -> Compiled:
    """The look-up of a usable flow with the version that a session is pinned to, the session by `within`."""
    nobody, no_flow, nothing = _StandIn(-1), -2, UUID(int=3)
    pinned = Conversation.objects.visible_to(nobody).filter(flow_id=OuterRef("pk"), **{within: nothing})
    usable = Flow.objects.usable_by(nobody).filter(pk=no_flow).order_by()
    chosen = UserProfile.objects.filter(pk=nobody.pk).values("preferred_llm_model")
    flows = usable.annotate(
        pinned_version=Subquery(pinned.order_by().values("flow_version")[:1]), model=Subquery(chosen[:1])
    )
    return Compiled(
        flows.values_list("pk", "name", "published_version", "pinned_version", "model"),
        stand_ins={nobody.pk: "user", no_flow: "flow", nothing: "within"},
    )


@dataclass(frozen=True, slots=True)
class _StandIn:
    """Whoever will ask."""

    pk: int


@lru_cache(maxsize=256)
def published(flow_id: int, number: int) -> Definition:
    """The definition of a published version. Versions never change, so it is parsed once."""
    return Definition.parse(FlowVersion.objects.get(flow=flow_id, number=number).definition)


async def answer(turn: FlowTurn, voice: Voice) -> None:
    """Runs the plugins and the flow, saying everything through `voice`. Raises what made it fail."""
    await before_all(turn)
    turn.on_prompt = lambda: voice.tell_memory(turn.used())
    run = engine.run(
        turn.definition,
        inputs=turn.inputs,
        conversing=turn,
        working=Work(turn.user, turn.conversation, turn.turn),
        resume=turn.resume,
    )
    async with aclosing(run) as steps:
        async for step in steps:
            if isinstance(step, Paused):
                turn.paused = step
            _say(step, voice)
    voice.tell_memory(turn.used())
    if not voice.text:
        raise ModelEmpty


def _say(step: Step, voice: Voice) -> None:
    match step:
        case Text(text):
            voice.say(text)
        case Reasoning(text):
            voice.emit("reasoning", text=text)
        case NodeStarted(node_id, title):
            voice.emit("node.started", node_id=node_id, title=title)
        case NodeFinished(node_id, title, ms):
            voice.emit("node.finished", node_id=node_id, title=title, ms=ms)
        case ToolBegan(node_id, name):
            voice.emit("tool.call", node_id=node_id, name=name)
        case ToolEnded(node_id, name, ok):
            voice.emit("tool.result", node_id=node_id, name=name, ok=ok)
        case Spent(usage):
            voice.spend(usage)


async def commit(turn: FlowTurn, outcome: Outcome) -> Outcome:
    """Makes the outcome durable. Returns how the turn really ended: somebody else may have ended it first.

    Raises TurnNotFound when it was erased meanwhile, and DatabaseError when PostgreSQL stays away; the turn then
    ends as interrupted by its lease.
    """
    turn.outcome = outcome
    for pause in (*COMMIT_PAUSES, None):
        try:
            with storing(turn_id=turn.turn_id) as found:
                found.missing = await threads.run(_record, turn, outcome)
            turn.missing.extend(found.missing)
            return outcome
        except TurnEnded:
            return await threads.run(_ended_elsewhere, turn, outcome.output)
        except DatabaseError as error:
            logger.error("answer not saved", turn_id=str(turn.turn_id), error=type(error).__name__)
            if pause is None:
                raise
            await asyncio.sleep(pause)
    raise AssertionError("unreachable")


def _record(turn: FlowTurn, outcome: Outcome) -> tuple[str, ...]:
    """What the turn waits for first, then that it waits."""
    if outcome.waiting:
        proposals.keep(turn)
    return MemoryManager().record_exchange(turn.user, conversation=turn.conversation, turn=turn.turn, outcome=outcome)


def _ended_elsewhere(turn: FlowTurn, said: str) -> Outcome:
    """How somebody else ended the turn, which keeps what its person has already read."""
    keep_partial_text(turn.turn_id, said)
    row = Turn.objects.visible_to(turn.user).filter(pk=turn.turn_id).first()
    if row is None:
        raise TurnNotFound
    return outcome_of(row)
