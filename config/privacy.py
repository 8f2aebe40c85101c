"""What browsers and proxies may keep of what people see here: nothing."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse


class PrivateMiddleware:
    """Forbids every cache to keep a page or an answer of the API, unless its view says how it is kept.

    Static files do not come by here: they carry a hash in their names and may be kept for ever.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-store")
        return response
