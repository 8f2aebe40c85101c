"""One turn from the question to the durable answer: open, plugins, engine, commit, then the rest.

Opening and committing are done here through `MemoryManager` and never by a plugin: whatever is taken out of
`FLOW_PLUGINS`, a question is saved before a model is called and an answer before its client hears that it is done.
"""

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from uuid import UUID

import structlog
from django.db import DatabaseError
from django.db.models import OuterRef, Subquery

import llm
from flows import engine, threads
from flows.definition import Definition
from flows.endings import outcome_of
from flows.errors import FlowNotFound
from flows.models import Flow, FlowVersion
from flows.nodes.base import Reasoning
from flows.plugins import before_all
from flows.steps import NodeFinished, NodeStarted, Spent, Step, Text
from flows.turn import FlowTurn
from flows.voice import Voice
from llm.errors import ModelEmpty
from memory.errors import TurnEnded, TurnNotFound
from memory.manager import MemoryManager
from memory.models import Conversation, Turn
from memory.person import Person
from memory.telemetry import storing
from memory.turns import Outcome, TurnRequest, keep_partial_text

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
    flow, version = _flow_and_version(user, command)
    definition = published(flow.pk, version)
    opened = MemoryManager().open_turn(
        user,
        TurnRequest(
            flow_id=flow.pk,
            flow_name=flow.name,
            flow_version=version,
            input=command.input,
            session_id=command.session_id,
            client_turn_id=command.client_turn_id,
            memory=command.memory,
            flow_memory=definition.settings.memory,
            replaces=command.edit_of,
        ),
    )
    turn = FlowTurn(
        user=user,
        conversation=opened.conversation,
        turn=opened.turn,
        definition=definition,
        profile=llm.resolve_profile(),
        inputs=command.inputs | {"input": opened.turn.input},
    )
    return turn, opened.fresh


def _flow_and_version(user: Person, command: Command) -> tuple[Flow, int]:
    """The flow, and its version that the session began with; for a new session the published one."""
    of_flow = Conversation.objects.visible_to(user).filter(flow_id=OuterRef("pk"))
    if command.session_id is None and command.edit_of:
        pinned = of_flow.filter(turns=command.edit_of)
    else:
        pinned = of_flow.filter(pk=command.session_id)  # type: ignore[misc]  # None finds none
    usable = Flow.objects.usable_by(user).filter(pk=command.flow_id)
    flow = usable.annotate(pinned_version=Subquery(pinned.values("flow_version"))).first()
    if flow is None or flow.published_version is None:
        raise FlowNotFound
    return flow, flow.pinned_version or flow.published_version  # type: ignore[attr-defined]  # annotated above


@lru_cache(maxsize=256)
def published(flow_id: int, number: int) -> Definition:
    """The definition of a published version. Versions never change, so it is parsed once."""
    return Definition.parse(FlowVersion.objects.get(flow=flow_id, number=number).definition)


async def answer(turn: FlowTurn, voice: Voice) -> None:
    """Runs the plugins and the flow, saying everything through `voice`. Raises what made it fail."""
    await before_all(turn)
    turn.on_prompt = lambda: voice.tell_memory(turn.used())
    async with aclosing(engine.run(turn.definition, inputs=turn.inputs, conversing=turn)) as steps:
        async for step in steps:
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
                found.missing = await threads.run(
                    MemoryManager().record_exchange,
                    turn.user,
                    conversation=turn.conversation,
                    turn=turn.turn,
                    outcome=outcome,
                )
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


def _ended_elsewhere(turn: FlowTurn, said: str) -> Outcome:
    """How somebody else ended the turn, which keeps what its person has already read."""
    keep_partial_text(turn.turn_id, said)
    row = Turn.objects.visible_to(turn.user).filter(pk=turn.turn_id).first()
    if row is None:
        raise TurnNotFound
    return outcome_of(row)
