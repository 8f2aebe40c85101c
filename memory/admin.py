"""Sessions in the admin: who talks how much in which flow. What was said is nobody's business here."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import IntegerField, OuterRef, QuerySet, Subquery, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce
from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.admin import ModelAdmin

from memory.dead_letters import ask_for_retry
from memory.models import Conversation, DeadLetter, Turn


@admin.register(Conversation)
class ConversationAdmin(ModelAdmin):
    """Counts only. Without titles and texts, and nothing to change: erasing is the owner's."""

    grants = ("view",)
    list_display = ("owner", "flow", "began", "last_active", "messages", "tokens")
    list_filter = ("flow_name", "last_active_at")
    list_select_related = ("user",)
    list_per_page = 50
    search_fields = ("user__username",)
    search_help_text = _("Search by user name")
    fields = readonly_fields = ("owner", "flow", "began", "last_active", "messages", "tokens")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Conversation]:
        """Leaves title and summary in the database: what is not loaded cannot be shown."""
        sessions = Conversation.objects.defer("title", "summary").with_counts()
        return sessions.annotate(token_count=_tokens()).order_by("-last_active_at", "-pk")

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """The filters' own lookups alone: the count behind `?title__startswith=…` would tell titles by the letter."""
        return lookup.partition("__")[0] in self.list_filter

    @admin.display(description=_("user"), ordering="user__username")
    def owner(self, session: Conversation) -> str:
        return session.user.get_username()

    @admin.display(description=_("flow"), ordering="flow_name")
    def flow(self, session: Conversation) -> str:
        return session.flow_name

    @admin.display(description=_("began"), ordering="created_at")
    def began(self, session: Conversation) -> str:
        return date_format(localtime(session.created_at), "DATETIME_FORMAT")

    @admin.display(description=_("last active"), ordering="last_active_at")
    def last_active(self, session: Conversation) -> str:
        return date_format(localtime(session.last_active_at), "DATETIME_FORMAT")

    @admin.display(description=_("messages"), ordering="message_count")
    def messages(self, session: Any) -> int:
        return int(session.message_count)

    @admin.display(description=_("tokens"), ordering="token_count")
    def tokens(self, session: Any) -> int:
        return int(session.token_count)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Conversation | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Conversation | None = None) -> bool:
        return False


@admin.register(DeadLetter)
class DeadLetterAdmin(ModelAdmin):
    """Stretches of which no model made anything: whose, how long, what went wrong, and never what was said."""

    grants = ("view",)
    list_display = ("owner", "flow", "stretch", "error", "attempts", "since", "again")
    list_filter = ("error",)
    list_select_related = ("user", "conversation")
    list_per_page = 50
    search_fields = ("user__username",)
    search_help_text = _("Search by user name")
    fields = readonly_fields = ("owner", "flow", "stretch", "error", "attempts", "since", "again")
    actions = ("read_again",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[DeadLetter]:
        return DeadLetter.objects.defer("conversation__title", "conversation__summary")

    @admin.action(description=_("Read the chosen stretches again"), permissions=("view",))
    def read_again(self, request: HttpRequest, letters: QuerySet[DeadLetter]) -> None:
        """Makes them due: the next job asks the model once more."""
        count = ask_for_retry(letters)
        words = ngettext("%(count)d stretch is read again soon.", "%(count)d stretches are read again soon.", count)
        self.message_user(request, words % {"count": count}, messages.SUCCESS)

    @admin.display(description=_("user"), ordering="user__username")
    def owner(self, letter: DeadLetter) -> str:
        return letter.user.get_username()

    @admin.display(description=_("flow"), ordering="conversation__flow_name")
    def flow(self, letter: DeadLetter) -> str:
        return letter.conversation.flow_name

    @admin.display(description=_("messages"), ordering="to_seq")
    def stretch(self, letter: DeadLetter) -> int:
        return letter.to_seq - letter.from_seq + 1

    @admin.display(description=_("since"), ordering="created_at")
    def since(self, letter: DeadLetter) -> str:
        return date_format(localtime(letter.created_at), "DATETIME_FORMAT")

    @admin.display(description=_("read again"), boolean=True)
    def again(self, letter: DeadLetter) -> bool:
        return letter.retry_at is not None

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: DeadLetter | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: DeadLetter | None = None) -> bool:
        return False


def _tokens() -> Coalesce:
    """What all turns of a session cost, replaced ones too."""
    sent, written = (
        Coalesce(Cast(KeyTextTransform(kind, "usage"), IntegerField()), 0)
        for kind in ("prompt_tokens", "completion_tokens")
    )
    turns = Turn.objects.filter(conversation=OuterRef("pk")).order_by().values("conversation")
    return Coalesce(Subquery(turns.annotate(total=Sum(sent + written)).values("total")), 0)
