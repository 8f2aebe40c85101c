"""From domain errors to HTTP: a status for each code, one shape of body, and a plain 404 page."""

from collections.abc import Callable
from typing import Any

from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy
from django.views.defaults import page_not_found
from drf_standardized_errors.formatter import ExceptionFormatter
from drf_standardized_errors.handler import ExceptionHandler
from rest_framework.exceptions import APIException, NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

STATUS = {
    "turn_running": 409,
    "client_turn_id_reused": 409,
    "not_the_last_turn": 409,
    "turn_ended": 409,
    "action_expired": 409,
    "task_changed": 409,
    "report_not_ready": 409,
    "report_not_signed": 409,
    "says_the_same": 409,
    "memory_not_active": 409,
    "client_key_reused": 409,
    "not_yours_to_change": 403,
    "invalid_definition": 400,
    "context_too_long": 413,
    "model_timeout": 504,
    "node_timeout": 504,
    "server_stopping": 503,
    "interrupted": 503,
}
"""The HTTP status of each error code; not_found is 404 for all alike, any other code of a turn is 502."""
RETRY_AFTER = {"server_stopping": "5"}


class DomainError(APIException):
    """A domain error on its way out: its code, its sentence, and the turn that it names."""

    def __init__(self, error: Any) -> None:
        super().__init__(str(error.detail), error.code)
        self.status_code = STATUS.get(error.code, 502)
        self.turn_id = getattr(error, "turn_id", None)


class DatabaseAway(APIException):
    """PostgreSQL cannot be reached; nothing was changed."""

    status_code = 503
    default_code = "database_unavailable"
    default_detail = gettext_lazy("The database cannot be reached. Try again in a moment.")


class Handler(ExceptionHandler):
    """Knows domain errors by their shape: `code` and `detail`."""

    def get_headers(self, exc: APIException) -> dict[str, str]:
        """With the seconds to wait, where an error passes by itself."""
        headers: dict[str, str] = super().get_headers(exc)
        wait = RETRY_AFTER.get(getattr(self.exc, "code", ""))
        return headers | ({"Retry-After": wait} if wait else {})

    def report_exception(self, exc: APIException, response: Response) -> None:
        """Reports faults of ours alone: a model that failed is logged where it failed."""
        if not isinstance(exc, DomainError):
            super().report_exception(exc, response)

    def convert_known_exceptions(self, exc: Exception) -> Exception:
        if not isinstance(exc, APIException) and hasattr(exc, "code") and hasattr(exc, "detail"):
            return NotFound() if exc.code == "not_found" else DomainError(exc)
        if isinstance(exc, OperationalError):
            return DatabaseAway()
        return super().convert_known_exceptions(exc)


class Formatter(ExceptionFormatter):
    """The standard body, with the `turn_id` of errors that name a turn beside it."""

    def format_error_response(self, error_response: Any) -> Any:
        body = super().format_error_response(error_response)
        turn_id = getattr(self.exc, "turn_id", None)
        return body | ({"turn_id": str(turn_id)} if turn_id else {})


class ApiNotFound(APIView):
    """Answers for addresses of the API that do not exist, with the same 404 as for objects that do not."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NotFound


class PlainNotFoundMiddleware:
    """Shows our 404 page while DEBUG is on too: a foreign object must look like a missing one there as well."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """The 404 page for a view's Http404."""
        return page_not_found(request, exception) if isinstance(exception, Http404) else None
