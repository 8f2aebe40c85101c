"""The chat socket `/ws/flows/{flow_id}/`: starts, attaches to and stops turns, and passes their events on.

The socket only listens. A turn goes on when it closes, and another socket may attach to it.
"""

import asyncio
import json
from contextlib import aclosing, suppress
from typing import Any
from uuid import UUID

from django.utils import translation
from django.utils.translation import gettext as _
from drf_standardized_errors.formatter import flatten_errors
from rest_framework.exceptions import APIException, NotFound, ValidationError

from flows import threads
from flows.answering import open_answer, open_words
from flows.conversation import usable_flow
from flows.errors import ActionNotFound
from flows.listening import begin, follow, stop
from flows.serializers import ActionAnswer, TurnStart
from flows.sockets import JsonSocket
from llm.text import whole_json
from memory.errors import TurnNotFound
from memory.fields import ObjectId
from memory.manager import MemoryManager
from memory.models import Turn
from memory.person import Person


class BadFrame(Exception):
    """A frame that cannot be understood; the socket stays open."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code)
        self.code, self.detail = code, detail


class FlowConsumer(JsonSocket):
    """One open chat page, or one program."""

    # It sends to nobody and hears from nobody: without a layer it works while Redis is away.
    channel_layer_alias = ""
    user: Person
    flow_id: int

    async def connect(self) -> None:
        """Accepts people who may use the flow; everybody else is refused alike."""
        self.user, self.flow_id = self.scope["user"], self.scope["url_route"]["kwargs"]["flow_id"]
        self._pumps: dict[UUID, asyncio.Task[None]] = {}
        if not await threads.run(usable_flow, self.user, self.flow_id):
            await self.close()
            return
        await self.welcome()

    async def disconnect(self, code: int) -> None:
        """Stops listening. The turns go on."""
        tasks = [*self._pumps.values(), *([self.pinging] if self.pinging else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Obeys one frame; what cannot be obeyed is answered by one error frame and changes nothing."""
        with translation.override(self.scope.get("language")):
            try:
                await self._obey(_parsed(text_data))
            except Exception as error:
                if not hasattr(error, "code") and not isinstance(error, APIException):
                    raise
                await self._refuse(error)

    async def _obey(self, frame: dict[str, Any]) -> None:
        match frame.pop("type", None):
            case "turn.start":
                command = TurnStart(data=frame).command(self.flow_id)
                self._listen(await begin(open_words, self.user, command), after=0, again=False)
            case "action.answer":
                action_id, reply = _action_in(frame), ActionAnswer(data=frame).reply()
                turn_id = await begin(open_answer, self.user, action_id, reply, flow_id=self.flow_id)
                self._listen(turn_id, after=0, again=False)
            case "turn.attach":
                turn_id = await self._own_turn(frame)
                after = frame.get("after", 0)
                self._listen(turn_id, after=after if isinstance(after, int) else 0, again=True)
            case "turn.stop":
                await stop(self.user, await self._own_turn(frame))
            case _:
                raise BadFrame("unknown_type", _("Use turn.start, turn.attach, turn.stop or action.answer."))

    async def _own_turn(self, frame: dict[str, Any]) -> UUID:
        """The frame's turn, which must be the user's and of this flow."""
        try:
            turn_id = ObjectId().to_internal_value(frame.get("turn_id"))
        except NotFound:
            raise TurnNotFound from None
        mine = Turn.objects.visible_to(self.user).filter(pk=turn_id, flow_id=self.flow_id)
        if not await threads.run(mine.exists):
            raise TurnNotFound
        return turn_id

    def _listen(self, turn_id: UUID, *, after: int, again: bool) -> None:
        """Passes the turn's events on. A repeat of a start goes on listening; an attach begins anew."""
        pump = self._pumps.get(turn_id)
        if pump and not pump.done():
            if not again:
                return
            pump.cancel()
        self._pumps[turn_id] = asyncio.create_task(self._pump(turn_id, after))

    async def _pump(self, turn_id: UUID, after: int) -> None:
        with suppress(OSError):  # the client went away; `disconnect` follows
            async with aclosing(follow(self.user, turn_id, after=after)) as events:
                async for event in events:
                    await self.send_frame(event.frame(html=True))
            await threads.run(_seen, self.user, turn_id)
        self._pumps.pop(turn_id, None)

    async def _refuse(self, error: Any) -> None:
        frame: dict[str, Any] = {"type": "error", **_code_and_detail(error)}
        if turn_id := getattr(error, "turn_id", None):
            frame["turn_id"] = str(turn_id)
        await self.send_frame(frame)


def _seen(user: Person, turn_id: UUID) -> None:
    """The page has shown the whole answer, so its session carries no unread mark."""
    session_id = Turn.objects.visible_to(user).filter(pk=turn_id).values_list("conversation_id", flat=True).first()
    if session_id:
        MemoryManager().mark_seen(user, session_id)


def _action_in(frame: dict[str, Any]) -> UUID:
    """Takes the action's id out of a frame."""
    try:
        return ObjectId().to_internal_value(frame.pop("action_id", None))
    except NotFound:
        raise ActionNotFound from None


def _parsed(text: str | None) -> dict[str, Any]:
    try:
        # Not orjson: it refuses a lone surrogate, which browsers send when a character was cut in two.
        frame = whole_json(json.loads(text or ""))
    except (ValueError, RecursionError):
        frame = None
    if not isinstance(frame, dict):
        raise BadFrame("malformed", _("Send one JSON object a frame."))
    return frame


def _code_and_detail(error: Any) -> dict[str, str]:
    if isinstance(error, ValidationError):
        first = flatten_errors(error.detail)[0]
        return {"code": "invalid", "detail": f"{first.attr}: {first.detail}"}
    if isinstance(error, APIException):
        return {"code": str(error.get_codes()), "detail": str(error.detail)}
    return {"code": error.code, "detail": str(error.detail)}
