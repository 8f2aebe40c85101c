"""Lists of the API: `{next, previous, results}`, pages by cursor, `?cursor=` and `?limit=`."""

from typing import Any

from django.core.exceptions import ValidationError
from rest_framework.exceptions import NotFound
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request

from memory.fields import whole_number


class CursorPages(CursorPagination):
    """50 rows a page, at most 200; a view names its `ordering`."""

    page_size = 50
    max_page_size = 200
    page_size_query_param = "limit"

    def get_page_size(self, request: Request) -> int:
        """As many rows as the client asks for. Raises ValidationError for what is no number of rows."""
        return whole_number(request, "limit", default=self.page_size, least=1, most=self.max_page_size)

    def get_ordering(self, request: Request, queryset: Any, view: Any) -> tuple[str, ...]:
        """The order that the view names."""
        return tuple(view.ordering)

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any] | None:
        """One page. Raises NotFound for a cursor that no page of ours gave out."""
        try:
            return super().paginate_queryset(queryset, request, view)
        except (ValueError, ValidationError):
            raise NotFound(self.invalid_cursor_message) from None
