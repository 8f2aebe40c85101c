"""The ASGI application: pages and REST by Django, sockets by Channels, and the lifespan of the turn runner."""

import os
import sys
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# A thread that comes back from the database asks the event loop for the interpreter, and waits this long for it.
# Opening a turn comes back a dozen times: at the usual 5 ms that alone is felt before the first word.
sys.setswitchinterval(0.0005)
# WhiteNoise reads files with a plain iterator; they are small, and in production a proxy or browser keeps them.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")
django.setup(set_prefix=False)  # before what uses models

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402

import llm  # noqa: E402
from config.handler import OneHopHandler  # noqa: E402
from config.socket_login import SocketLogin  # noqa: E402
from flows import runner  # noqa: E402
from flows.routing import websocket_urlpatterns  # noqa: E402

Application = Callable[[dict[str, Any], Any, Any], Awaitable[None]]


def with_lifespan(application: Application) -> Application:
    """Answers the server's start and stop, which Django does not: opens the runner, drains it, closes clients."""

    async def wrapped(scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
        else:
            await application(scope, receive, send)

    return wrapped


async def _live(receive: Any, send: Any) -> None:
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            await llm.aopen()
            await runner.start()
            await send({"type": "lifespan.startup.complete"})
        else:
            await runner.finish()
            await llm.aclose()
            await send({"type": "lifespan.shutdown.complete"})
            return


application = with_lifespan(
    ProtocolTypeRouter({"http": OneHopHandler(), "websocket": SocketLogin(URLRouter(websocket_urlpatterns))})
)
