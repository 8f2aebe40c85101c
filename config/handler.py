"""Django's ASGI handler for an application whose views are all synchronous."""

from asgiref.sync import sync_to_async  # noqa: TID251  # inside a request it gives each one a thread of its own
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponseBase


class OneHopHandler(ASGIHandler):
    """Runs middleware and view of a request in one go, in one thread.

    Django changes between thread and event loop for the view and for each middleware that looks at it. Each change
    waits until the loop is free, which under load is longer than all the rest. What streams does so on the loop, as
    before.
    """

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)
