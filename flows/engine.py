"""Runs a definition: a directed graph of nodes, walked as an async generator of steps.

Independent nodes run at once. A node that ends settles the edges out of it: live on the branch it took, dead on the
others. A node whose in-edges are all settled fires once when one of them is live; when none is, it is skipped and
the edges out of it are dead too. The engine knows values only: no ORM, no HTTP, no Redis.

A node may propose something instead of ending. Whatever does not depend on it still runs; then the run is over,
paused, and its state says how to go on: what ended before is settled again without running.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Any

from flows.definition import Definition, Edge, Node
from flows.execution import Ended, Produced, execute
from flows.nodes import NODE_TYPES
from flows.nodes.base import (
    Conversing,
    Delta,
    NodeCall,
    Proposal,
    Reasoning,
    Result,
    ToolAnswered,
    ToolCalled,
    Working,
)
from flows.pausing import Resume, State
from flows.speaking import Speaker
from flows.steps import NodeFinished, NodeStarted, Paused, Spent, Step, Text, ToolBegan, ToolEnded

Report = Produced | Ended | Exception


def run(
    definition: Definition,
    *,
    inputs: Mapping[str, Any],
    conversing: Conversing,
    working: Working,
    resume: Resume | None = None,
) -> AsyncGenerator[Step, None]:
    """Runs the flow to its end, or until it is Paused. Raises the error of the first node that fails and may not.

    With `resume` it goes on where a run of this definition paused. Closing the generator cancels every node that
    runs, and with it the model's stream.
    """
    return _Walk(definition, _Given(inputs, conversing, working), resume).steps()


@dataclass(frozen=True, slots=True)
class _Given:
    """What every node is given."""

    inputs: Mapping[str, Any]
    conversing: Conversing
    working: Working


class _Walk:
    """One execution: which edges are settled, which nodes run, what they gave, which one waits for the person."""

    def __init__(self, definition: Definition, given: _Given, resume: Resume | None) -> None:
        self._definition, self._given, self._resume = definition, given, resume
        self._values: dict[str, Mapping[str, Any]] = dict(resume.state.values) if resume else {}
        self._branches: dict[str, str | None] = dict(resume.state.branches) if resume else {}
        self._ended_before = frozenset(self._branches)
        self._unsettled = {node.id: len(definition.edges_into(node.id)) for node in definition.nodes}
        self._reached: set[str] = set()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._reports: asyncio.Queue[tuple[Node, Report]] = asyncio.Queue()
        self._speaker = Speaker(definition)
        self._waits: tuple[Node, Proposal] | None = None

    async def steps(self) -> AsyncGenerator[Step, None]:
        try:
            for step in self._begin():
                yield step
            while self._running:
                node, report = await self._reports.get()
                for step in self._steps_of(node, report):
                    yield step
            for step in self._pause():
                yield step
        finally:
            await self._cancel()

    def _begin(self) -> list[Step]:
        """Starts the nodes that nothing leads to, or settles them again where they ended before."""
        first = [node for node in self._definition.nodes if not self._unsettled[node.id]]
        steps: list[Step] = []
        for node in first:
            steps += self._settle(node.id) if node.id in self._ended_before else [self._start(node)]
        return steps

    async def _cancel(self) -> None:
        for task in self._running.values():
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    def _start(self, node: Node) -> NodeStarted:
        self._running[node.id] = asyncio.create_task(self._execute(node), name=f"node {node.id}")
        return NodeStarted(node.id, node.title)

    async def _execute(self, node: Node) -> None:
        try:
            kind = NODE_TYPES[node.type]
            call = NodeCall(
                node_id=node.id,
                config=kind.config.model_validate(node.config),
                values=self._values,
                inputs=self._given.inputs,
                answering=node.id in self._definition.answering,
                conversing=self._given.conversing,
                working=self._given.working,
                answer=self._resume.answer_for(node.id) if self._resume else None,
            )
            async for report in execute(kind, call):
                self._reports.put_nowait((node, report))
        except Exception as failure:  # noqa: BLE001  # handed to the walk, which raises it to the caller
            self._reports.put_nowait((node, failure))

    def _steps_of(self, node: Node, report: Report) -> list[Step]:
        """The steps that follow from one report of a node."""
        match report:
            case Exception():
                raise report
            case Delta(text):
                return _texts(self._speaker.heard(node.id, text))
            case Reasoning():
                return [report]
            case ToolCalled(name):
                return [ToolBegan(node.id, name)]
            case ToolAnswered(name, ok):
                return [ToolEnded(node.id, name, ok)]
            case Ended():
                return self._ended(node, report)

    def _ended(self, node: Node, ended: Ended) -> list[Step]:
        del self._running[node.id]
        steps: list[Step] = []
        if ended.result.usage:
            steps.append(Spent(ended.result.usage))
        finished = NodeFinished(node.id, node.title, ended.ms, ended.error)
        if isinstance(ended.result, Proposal):
            # One card at a time: whoever proposes after the first does so again once that one is answered.
            self._waits = self._waits or (node, ended.result)
            return [*steps, finished]
        return self._gave(node, ended.result) + steps + [finished, *self._settle(node.id)]

    def _gave(self, node: Node, result: Result) -> list[Step]:
        """Keeps what a node gave, and says it where it is an answer."""
        self._values[node.id], self._branches[node.id] = result.fields, result.branch
        if node.type != "answer":
            return []
        return _texts(self._speaker.finished(node.id, str(result.fields.get("text", ""))))

    def _settle(self, node_id: str) -> list[Step]:
        """Settles the edges out of a node that ended, and out of those skipped for it; starts what is ready.

        What ended before the pause is settled on the way as it was then.
        """
        steps: list[Step] = []
        settled = deque(self._ways_out_of(node_id))
        while settled:
            edge, live = settled.popleft()
            self._unsettled[edge.target] -= 1
            if live:
                self._reached.add(edge.target)
            if self._unsettled[edge.target]:
                continue
            if edge.target in self._ended_before:
                settled.extend(self._ways_out_of(edge.target))
            elif edge.target in self._reached:
                steps.append(self._start(self._definition.by_id[edge.target]))
            else:
                settled.extend((dead, False) for dead in self._definition.edges_out_of(edge.target))
                steps += _texts(self._speaker.skipped(edge.target))
        return steps

    def _ways_out_of(self, node_id: str) -> list[tuple[Edge, bool]]:
        """The edges out of a node that ended, each with whether it is live."""
        taken = self._branches[node_id]
        return [(edge, edge.branch == taken) for edge in self._definition.edges_out_of(node_id)]

    def _pause(self) -> list[Step]:
        """What is said when the run waits for the person; nothing when it is simply over."""
        if self._waits is None:
            return []
        node, proposal = self._waits
        state = State(node.id, self._values, self._branches)
        return [*_texts(self._speaker.proposed(node.id, proposal.text)), Paused(proposal, state)]


def _texts(pieces: list[str]) -> list[Step]:
    return [Text(piece) for piece in pieces]
