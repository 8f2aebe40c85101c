"""The log lines of requests: method and path, never what a person searched for or the name of a shared link."""

from django.http import HttpRequest
from django_structlog.middlewares import RequestMiddleware


class RequestLines(RequestMiddleware):
    """Gives each request an id and two lines, when it begins and when it ends."""

    @staticmethod
    def format_request(request: HttpRequest) -> str:
        """Without the query, which holds words of people, and without the token of a shared conversation."""
        path = "/shared/…" if request.path.startswith("/shared/") else request.path
        return f"{request.method} {path}"
