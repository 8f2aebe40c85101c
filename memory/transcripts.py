"""One conversation as a document to keep: Markdown for people, JSON for programs."""

from collections.abc import Iterable
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from memory.models import Conversation, Turn


def as_markdown(conversation: Conversation) -> str:
    """The conversation in Markdown, times in the active zone."""
    lines = [
        f"# {conversation.title or conversation.flow_name}",
        "",
        f"{conversation.flow_name} · {_day(conversation)}",
    ]
    for turn in Turn.objects.shown(conversation):
        lines += ["", f"## {_('You')} · {_moment(turn)}", "", turn.input]
        if turn.output:
            lines += ["", f"## {conversation.flow_name}", "", turn.output]
        if turn.status != "complete":
            lines += ["", f"*{turn.get_status_display()}*"]
    return "\n".join(lines) + "\n"


def as_data(conversation: Conversation) -> dict[str, Any]:
    """The conversation as data: the session's fields and every message shown, oldest first."""
    return {
        "session_id": conversation.pk,
        "flow_id": conversation.flow_id,
        "flow_name": conversation.flow_name,
        "title": conversation.title,
        "created_at": conversation.created_at,
        "last_active_at": conversation.last_active_at,
        "messages": list(_messages(Turn.objects.shown(conversation))),
    }


def _messages(turns: Iterable[Turn]) -> Iterable[dict[str, Any]]:
    for turn in turns:
        yield from turn.messages_shown()


def _day(conversation: Conversation) -> str:
    return f"{timezone.localtime(conversation.created_at):%Y-%m-%d}"


def _moment(turn: Turn) -> str:
    return f"{timezone.localtime(turn.started_at):%Y-%m-%d %H:%M}"
