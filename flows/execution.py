"""Executes one node: its deadline, its retries, and what happens when it fails."""

import asyncio
import time
import traceback
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

import structlog

from flows.errors import NodeFault, NodeTimeout
from flows.nodes.base import (
    Delta,
    NodeCall,
    NodeType,
    Output,
    Proposal,
    Reasoning,
    Result,
    ToolAnswered,
    ToolCalled,
)

logger = structlog.get_logger(__name__)
Produced = Delta | Reasoning | ToolCalled | ToolAnswered
"""What a node yields before its end."""
ERROR_BRANCH = "error"
"""The way out of a node whose `on_error` is "branch"."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The last thing an execution reports: what it gave or proposes, how long it took, a failure that was caught."""

    result: Result | Proposal
    ms: int
    error: str = ""


async def execute(kind: NodeType, call: NodeCall) -> AsyncGenerator[Produced | Ended, None]:
    """Yields what the node produces, then one Ended. Raises when it fails and `on_error` is "fail"."""
    began = time.monotonic()
    result: Result | Proposal = Result()
    error = ""
    try:
        async for output in _attempts(kind, call):
            if isinstance(output, Result | Proposal):
                result = output
            else:
                yield output
    except (Exception, asyncio.CancelledError) as failure:  # a node may raise anything; `on_error` says what it means
        if isinstance(failure, asyncio.CancelledError) and _is_being_cancelled():
            raise
        known = _as_known(failure, call)
        if call.config.on_error == "fail":
            if known is failure:
                raise
            raise known from failure
        error = known.code  # type: ignore[attr-defined]  # every known error has one
        branch = ERROR_BRANCH if call.config.on_error == "branch" else None
        result = Result(call.config.default, branch=branch)
    yield Ended(result, round((time.monotonic() - began) * 1000), error)


async def _attempts(kind: NodeType, call: NodeCall) -> AsyncGenerator[Output, None]:
    """Runs the node until it succeeds, fails for good, or has used its retries; never again after output."""
    for left in range(call.config.retries, -1, -1):
        said = False
        try:
            async with (
                asyncio.timeout(call.config.timeout or kind.timeout),
                aclosing(kind.run(call)) as outputs,
            ):
                async for output in outputs:
                    said = True
                    yield output
            return
        except Exception as failure:
            passing = isinstance(failure, TimeoutError) or not getattr(failure, "permanent", True)
            if said or not left or not passing:
                raise


def _is_being_cancelled() -> bool:
    """Whether somebody stops this run; otherwise a cancellation is the node's own, from within, and a failure."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _as_known(failure: BaseException, call: NodeCall) -> Exception:
    """The failure as an error with `code` and `detail`; one of ours is logged by place, never by its text."""
    if isinstance(failure, TimeoutError):
        return NodeTimeout()
    if isinstance(failure, Exception) and hasattr(failure, "code") and hasattr(failure, "detail"):
        return failure
    place = traceback.extract_tb(failure.__traceback__)[-1]
    logger.error(
        "node failed",
        node_id=call.node_id,
        error=type(failure).__name__,
        place=f"{place.filename}:{place.lineno}",
    )
    return NodeFault()
