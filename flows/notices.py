"""Notices to one person's open pages over `/ws/me/`: a session changed, work was assigned, a report is ready.

They travel over the channel layer and may be lost; whoever gets one reads the state from the API.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from redis.exceptions import RedisError

from flows import groups
from flows.sockets import JsonSocket


def group_of(user_id: int) -> str:
    """The channel group of all open pages of one person."""
    return f"tacit.person.{user_id}"


async def send(user_id: int, kind: str, **data: Any) -> None:
    """Sends a notice to every open page of a person; silently nothing while Redis is away."""
    await _tell(user_id, [{"type": kind, **data}])


async def session_changed(user_id: int, session_id: UUID) -> None:
    """Tells a person's pages that one of their sessions has another title, a running turn, or a new answer."""
    await send(user_id, "session.changed", session_id=str(session_id))


async def sessions_erased(user_id: int, session_ids: Iterable[UUID]) -> None:
    """Tells a person's pages which of their sessions are gone; one message, however many they are."""
    frames = [{"type": "session.changed", "session_id": str(session_id), "erased": True} for session_id in session_ids]
    if frames:
        await _tell(user_id, frames)


async def tasks_overdue(user_id: int, task_ids: Iterable[int]) -> None:
    """Tells a person's pages which tasks should have been done by now; one message, however many they are."""
    await _tell(user_id, [{"type": "task.overdue", "task_id": task_id} for task_id in task_ids])


def send_from_job(user_id: int, kind: str, **data: Any) -> None:
    """Sends a notice from synchronous code outside the server."""
    async_to_sync(send)(user_id, kind, **data)


async def _tell(user_id: int, frames: list[dict[str, Any]]) -> None:
    await groups.tell(group_of(user_id), {"type": "notice", "frames": frames})


class NoticeConsumer(JsonSocket):
    """One open page of one person. It takes nothing in."""

    async def connect(self) -> None:
        """Accepts whoever is logged in, and nobody else."""
        if not self.scope["user"].pk:
            await self.close()
            return
        await self.welcome()
        self._group = group_of(self.scope["user"].pk)
        with suppress(OSError, RedisError):
            await self.channel_layer.group_add(self._group, self.channel_name)

    async def disconnect(self, code: int) -> None:
        """Leaves the group."""
        if self.pinging is None:
            return
        self.pinging.cancel()
        with suppress(OSError, RedisError):
            await self.channel_layer.group_discard(self._group, self.channel_name)

    async def notice(self, message: dict[str, Any]) -> None:
        """Passes notices on to the page, a frame each."""
        for frame in message["frames"]:
            await self.send_frame(frame)
