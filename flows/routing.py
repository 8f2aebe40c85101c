"""Addresses of the sockets."""

from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from django.urls import path, re_path

from flows.consumers import FlowConsumer
from flows.notices import NoticeConsumer


class Nowhere(AsyncWebsocketConsumer):
    """Refuses a socket whose address leads nowhere, as one to a foreign flow is refused."""

    async def connect(self) -> None:
        await self.close()


websocket_urlpatterns: list[Any] = [
    path("ws/flows/<int:flow_id>/", FlowConsumer.as_asgi()),
    path("ws/me/", NoticeConsumer.as_asgi()),
    re_path(r"", Nowhere.as_asgi()),
]
