"""What a plugin is: middleware around every turn, listed in `FLOW_PLUGINS` in the order in which it runs."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from typing import ClassVar

import structlog
from django.conf import settings
from django.utils.module_loading import import_string

from flows.turn import FlowTurn

logger = structlog.get_logger(__name__)


class Plugin:
    """Base class; override what is needed. Instances are shared by all turns: keep state in the turn.

    `before` runs when the question is saved and no model was called yet; `after` when the answer is committed.
    Each has `budget` seconds. One that fails or takes longer is left out, with its `name` in `turn.missing`:
    the turn goes on without it.

    `beside`: its `before` needs nothing of the plugins next to it in the list that say so too, and runs while they do.
    It then adds to `blocks`, `missing` and `memory_used` alone.
    """

    name: ClassVar[str]
    budget: ClassVar[float] = 1.0
    beside: ClassVar[bool] = False

    async def before(self, turn: FlowTurn) -> None:
        """The event MEMORY_RETRIEVAL: put what the model should know into the turn."""

    async def after(self, turn: FlowTurn) -> None:
        """The event MEMORY_STORAGE: tell others what happened. The answer is already safe."""


@cache
def _load(paths: tuple[str, ...]) -> tuple[Plugin, ...]:
    return tuple(import_string(path)() for path in paths)


def plugins() -> Sequence[Plugin]:
    """The plugins that settings list, in order."""
    return _load(tuple(settings.FLOW_PLUGINS))


async def before_all(turn: FlowTurn) -> None:
    """Runs every plugin's `before`, in order; those that may run beside each other do."""
    for beside, group in groupby(plugins(), key=lambda plugin: plugin.beside):
        if beside:
            await _together(list(group), turn)
        else:
            for plugin in group:
                await _guarded(plugin, "before", turn)


async def _together(group: Sequence[Plugin], turn: FlowTurn) -> None:
    """Each is given a list of blocks of its own, so that they stand in the order of the plugins, whoever was first."""
    turns = [replace(turn, blocks=[]) for _ in group]
    await asyncio.gather(*(_guarded(plugin, "before", own) for plugin, own in zip(group, turns, strict=True)))
    for own in turns:
        turn.blocks += own.blocks


async def after_all(turn: FlowTurn) -> None:
    """Runs every plugin's `after`, in order."""
    for plugin in plugins():
        await _guarded(plugin, "after", turn)


async def _guarded(plugin: Plugin, event: str, turn: FlowTurn) -> None:
    try:
        async with asyncio.timeout(plugin.budget):
            await getattr(plugin, event)(turn)
    except Exception as error:  # noqa: BLE001  # a plugin may fail in any way; no answer is lost for it
        turn.missing.append(plugin.name)
        logger.error("plugin failed", plugin=plugin.name, event_name=event, error=type(error).__name__)
