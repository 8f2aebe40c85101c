"""Runs a definition: a directed graph of nodes, walked as an async generator of steps.

Independent nodes run at once. A node that ends settles its out-edges: live on the branch taken, skipped on the
others. A node fires once, when all its in-edges are settled and one is live; when none is, it is skipped and
skips what follows. The engine knows values only: no ORM, no HTTP, no Redis.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

from flows.definition import Definition, Node
from flows.execution import Ended, execute
from flows.nodes import NODE_TYPES
from flows.nodes.base import Conversing, Delta, NodeCall, Reasoning
from flows.speaking import Speaker
from flows.steps import NodeFinished, NodeStarted, Spent, Step, Text

Report = Delta | Reasoning | Ended | BaseException


async def run(
    definition: Definition, *, inputs: Mapping[str, Any], conversing: Conversing
) -> AsyncGenerator[Step, None]:
    """Runs the flow to its end. Raises the error of the first node that fails and may not.

    Closing the generator cancels every node that runs, and with it the model's stream.
    """
    walk = _Walk(definition, inputs, conversing)
    try:
        async for step in walk.steps():
            yield step
    finally:
        await walk.cancel()


class _Walk:
    """One execution: which edges are settled, which nodes run, what they gave."""

    def __init__(self, definition: Definition, inputs: Mapping[str, Any], conversing: Conversing) -> None:
        self._definition, self._inputs, self._conversing = definition, inputs, conversing
        self._values: dict[str, Mapping[str, Any]] = {}
        self._live_edges: dict[int, bool] = {}
        self._reached: set[str] = set()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._reports: asyncio.Queue[tuple[Node, Report]] = asyncio.Queue()
        self._speaker = Speaker(definition)

    async def steps(self) -> AsyncGenerator[Step, None]:
        for node in self._definition.nodes:
            if not self._definition.edges_into(node.id):
                yield self._start(node)
        while self._running:
            node, report = await self._reports.get()
            for step in self._steps_of(node, report):
                yield step

    async def cancel(self) -> None:
        for task in self._running.values():
            task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    def _start(self, node: Node) -> NodeStarted:
        self._running[node.id] = asyncio.create_task(self._execute(node), name=f"node {node.id}")
        return NodeStarted(node.id, node.title)

    async def _execute(self, node: Node) -> None:
        kind = NODE_TYPES[node.type]
        call = NodeCall(
            node_id=node.id,
            config=kind.config.model_validate(node.config),
            values=self._values,
            inputs=self._inputs,
            answering=node.id in self._definition.answering,
            conversing=self._conversing,
        )
        try:
            async for report in execute(kind, call):
                self._reports.put_nowait((node, report))
        except Exception as failure:  # noqa: BLE001  # handed to the walk, which raises it to the caller
            self._reports.put_nowait((node, failure))

    def _steps_of(self, node: Node, report: Report) -> list[Step]:
        """The steps that follow from one report of a node."""
        match report:
            case BaseException():
                raise report
            case Delta(text):
                return [Text(piece) for piece in self._speaker.heard(node, text, self._values)]
            case Reasoning():
                return [report]
            case Ended():
                return self._ended(node, report)

    def _ended(self, node: Node, ended: Ended) -> list[Step]:
        del self._running[node.id]
        self._values[node.id] = ended.result.fields
        steps: list[Step] = []
        if node.type == "answer":
            text = str(ended.result.fields.get("text", ""))
            steps += [Text(piece) for piece in self._speaker.finished(node.id, text)]
        if ended.result.usage:
            steps.append(Spent(ended.result.usage))
        steps.append(NodeFinished(node.id, node.title, ended.ms, ended.error))
        taken = ended.result.branch
        return steps + self._settle(node, live=lambda branch: branch is None or branch == taken)

    def _settle(self, node: Node, *, live: Callable[[str | None], bool]) -> list[Step]:
        """Marks a node's out-edges and starts what has become ready."""
        for index, edge in enumerate(self._definition.edges):
            if edge.source == node.id:
                self._live_edges[index] = live(edge.branch)
        started: list[Step] = []
        for edge in self._definition.edges_out_of(node.id):
            started += self._fire(self._definition.by_id[edge.target])
        return started

    def _fire(self, node: Node) -> list[Step]:
        into = [index for index, edge in enumerate(self._definition.edges) if edge.target == node.id]
        if node.id in self._reached or any(index not in self._live_edges for index in into):
            return []
        self._reached.add(node.id)
        if any(self._live_edges[index] for index in into):
            return [self._start(node)]
        return self._settle(node, live=lambda _branch: False)
