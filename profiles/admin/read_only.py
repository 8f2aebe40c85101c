"""Tables of the admin to look at: whose rows they are, who was shown, and no way round either."""

import re
from typing import Any

from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from unfold.admin import ModelAdmin

from profiles.models import Look, Sight
from profiles.permissions import policy

_LOOKUP = re.compile(r"(\w+?)(__id)?__(exact|isnull|gte|lt)")
"""What the filters of lists ask. Another step, `department__people__…`, would ask about people out of sight."""


class ReadOnlyAdmin(ModelAdmin):
    """Pages to look at. Whoever is shown on them has been looked at."""

    grants = ("view",)
    sight: Sight
    person: str
    """The field that tells whose a row is."""

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return policy.rows_in_admin(super().get_queryset(request), request.user, key=self.person)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """The filters' own lookups alone."""
        names = {entry if isinstance(entry, str) else entry[0] for entry in self.list_filter}
        found = _LOOKUP.fullmatch(lookup)
        return found is not None and found[1] in names

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        response = super().changelist_view(request, extra_context)
        changes: ChangeList | None = getattr(response, "context_data", {}).get("cl")
        if changes is not None:
            self._note(request, changes.result_list, Sight.LIST if self.sight == Sight.PROFILE else self.sight)
        return response

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        kwargs["extra_context"] = {"show_history": False} | (kwargs.get("extra_context") or {})
        response = super().change_view(request, object_id, *args, **kwargs)
        row = getattr(response, "context_data", {}).get("original")
        self._note(request, [row] if row else [], self.sight)
        return response

    def history_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        """Nothing is changed here, so that there is no history of it."""
        raise Http404

    def _get_obj_does_not_exist_redirect(self, request: HttpRequest, opts: Any, object_id: str) -> HttpResponse:
        """A row out of sight looks like one that does not exist: neither is worth a page that was asked for by hand."""
        raise Http404

    def _note(self, request: HttpRequest, rows: Any, sight: Sight) -> None:
        Look.objects.record(request.user, [getattr(row, self.person) for row in rows], sight=sight)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
