"""The sidebar's list of conversations: the newest ones, under Today, This week and Earlier."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby

from django.utils import timezone
from django.utils.translation import gettext as _

from flows.models import Flow
from memory.models import Conversation
from memory.person import Person

SHOWN = 60


@dataclass(frozen=True, slots=True)
class Group:
    """Conversations under one heading."""

    label: str
    sessions: list[Conversation]


def recent_sessions(user: Person, *, words: str = "") -> list[Conversation]:
    """The newest conversations with flows that `user` may still use; with `words`, those that contain them.

    Each carries the name that its flow has now, in the reader's language.
    """
    names = {flow.pk: flow.shown()["name"] for flow in Flow.objects.usable_by(user)}
    mine = Conversation.objects.visible_to(user).filter(flow_id__in=names).with_counts()
    sessions = list((mine.matching(words) if words else mine)[:SHOWN])
    for session in sessions:
        session.flow_name = names[session.flow_id]
    return sessions


def grouped(sessions: Iterable[Conversation]) -> list[Group]:
    """The conversations, which are newest first, under the day or week they were last active in."""
    return [Group(label, list(members)) for label, members in groupby(sessions, key=_label)]


def _label(session: Conversation) -> str:
    today = timezone.localdate()
    day = timezone.localdate(session.last_active_at)
    if day >= today:
        return _("Today")
    return _("This week") if day > today - timedelta(days=7) else _("Earlier")
