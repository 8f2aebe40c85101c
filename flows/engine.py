"""Runs a definition: a directed graph of nodes, walked as an async generator of steps.

Independent nodes run at once. A node that ends settles the edges out of it: live on the branch it took, dead on the
others. A node whose in-edges are all settled fires once when one of them is live; when none is, it is skipped and
the edges out of it are dead too. The engine knows values only: no ORM, no HTTP, no Redis.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from flows.definition import Definition, Node
from flows.execution import Ended, execute
from flows.nodes import NODE_TYPES
from flows.nodes.base import Conversing, Delta, NodeCall, Reasoning
from flows.speaking import Speaker
from flows.steps import NodeFinished, NodeStarted, Spent, Step, Text

Report = Delta | Reasoning | Ended | Exception


def run(definition: Definition, *, inputs: Mapping[str, Any], conversing: Conversing) -> AsyncGenerator[Step, None]:
    """Runs the flow to its end. Raises the error of the first node that fails and may not.

    Closing the generator cancels every node that runs, and with it the model's stream.
    """
    return _Walk(definition, inputs, conversing).steps()


class _Walk:
    """One execution: which edges are settled, which nodes run, what they gave."""

    def __init__(self, definition: Definition, inputs: Mapping[str, Any], conversing: Conversing) -> None:
        self._definition, self._inputs, self._conversing = definition, inputs, conversing
        self._values: dict[str, Mapping[str, Any]] = {}
        self._unsettled = {node.id: len(definition.edges_into(node.id)) for node in definition.nodes}
        self._reached: set[str] = set()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._reports: asyncio.Queue[tuple[Node, Report]] = asyncio.Queue()
        self._speaker = Speaker(definition)

    async def steps(self) -> AsyncGenerator[Step, None]:
        try:
            for node in self._definition.nodes:
                if not self._unsettled[node.id]:
                    yield self._start(node)
            while self._running:
                node, report = await self._reports.get()
                for step in self._steps_of(node, report):
                    yield step
        finally:
            await self._cancel()

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
                inputs=self._inputs,
                answering=node.id in self._definition.answering,
                conversing=self._conversing,
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
            case Ended():
                return self._ended(node, report)

    def _ended(self, node: Node, ended: Ended) -> list[Step]:
        del self._running[node.id]
        self._values[node.id] = ended.result.fields
        steps: list[Step] = []
        if node.type == "answer":
            steps += _texts(self._speaker.finished(node.id, str(ended.result.fields.get("text", ""))))
        if ended.result.usage:
            steps.append(Spent(ended.result.usage))
        steps.append(NodeFinished(node.id, node.title, ended.ms, ended.error))
        return steps + self._settle(node, taken=ended.result.branch)

    def _settle(self, node: Node, *, taken: str | None) -> list[Step]:
        """Settles the edges out of a node that ended, and out of those skipped for it; starts what is ready."""
        steps: list[Step] = []
        settled = deque((edge, edge.branch == taken) for edge in self._definition.edges_out_of(node.id))
        while settled:
            edge, live = settled.popleft()
            self._unsettled[edge.target] -= 1
            if live:
                self._reached.add(edge.target)
            if self._unsettled[edge.target]:
                continue
            if edge.target in self._reached:
                steps.append(self._start(self._definition.by_id[edge.target]))
            else:
                settled.extend((dead, False) for dead in self._definition.edges_out_of(edge.target))
                steps += _texts(self._speaker.skipped(edge.target))
        return steps


def _texts(pieces: list[str]) -> list[Step]:
    return [Text(piece) for piece in pieces]
