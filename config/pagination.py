"""Lists of the API: `{next, previous, results}`, pages by cursor, `?cursor=` and `?limit=`."""

from rest_framework.pagination import CursorPagination


class CursorPages(CursorPagination):
    """50 rows a page, at most 200; a view names its `ordering`."""

    page_size = 50
    max_page_size = 200
    page_size_query_param = "limit"
    ordering = "-pk"
