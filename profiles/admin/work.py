"""Tasks in the admin: to look at, with what happened to them."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _
from unfold.admin import TabularInline

from profiles.admin.read_only import ReadOnlyAdmin
from profiles.models import Sight, WorkEvent, WorkTask
from profiles.task_page import event_sentence, name_of


class HistoryInline(TabularInline):
    """What happened to the task."""

    model = WorkEvent
    fields = readonly_fields = ("at", "what")
    verbose_name_plural = _("what happened")
    can_delete = False
    hide_title = True

    @admin.display(description=_("what"))
    def what(self, event: WorkEvent) -> str:
        return event_sentence(event)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever may see the task may see its history."""
        return True


@admin.register(WorkTask)
class TaskAdmin(ReadOnlyAdmin):
    """Work, to look at: it is given and moved on its page, by those whose it is."""

    sight, person = Sight.WORK, "assignee_id"
    inlines = (HistoryInline,)
    list_display = ("title", "assignee_name", "creator_name", "status", "due", "completed")
    list_filter = ("status", "due_at")
    list_select_related = ("assignee__profile", "creator__profile")
    search_fields = ("title", "assignee__profile__display_name")
    search_help_text = _("Search by title or name")
    fields = readonly_fields = ("title", "description", "assignee_name", "creator_name", "status", "due", "completed")

    @admin.display(description=_("for"), ordering="assignee__profile__display_name")
    def assignee_name(self, task: WorkTask) -> str:
        return name_of(task.assignee)

    @admin.display(description=_("given by"), ordering="creator__profile__display_name")
    def creator_name(self, task: WorkTask) -> str:
        return name_of(task.creator)

    @admin.display(description=_("due"), ordering="due_at")
    def due(self, task: WorkTask) -> str | None:
        return date_format(localtime(task.due_at), "DATETIME_FORMAT") if task.due_at else None

    @admin.display(description=_("finished"), ordering="completed_at")
    def completed(self, task: WorkTask) -> str | None:
        return date_format(localtime(task.completed_at), "DATETIME_FORMAT") if task.completed_at else None
