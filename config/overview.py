"""What the admin's first page says: who answers, how much goes on, whether everything works. Counts only."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core import checks
from django.db.models import Count
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from config import tasks
from config.health import CHECKS
from flows.models import Flow
from llm import resolve_profile
from llm.errors import ModelMisconfigured
from llm.profile import Profile
from memory.models import Conversation, Turn, TurnStatus

SERVICES: dict[str, str | Promise] = {
    "postgres": "PostgreSQL",
    "redis": _("Redis: cache and live answers"),
    "memory_redis": _("Redis: conversations at hand"),
    "broker": _("Redis: queue of jobs"),
    "worker": _("Worker and timer of jobs"),
}
WARNINGS = {
    "tacit.W001": (_("Redis cannot be reached."), _("Start it, or set MEMORY_REDIS_URL.")),
    "tacit.W002": (_("Redis evicts keys when its memory is full."), _("Set maxmemory-policy to noeviction.")),
    "tacit.W003": (_("Redis runs without its append-only file."), _("Start it with --appendonly yes.")),
    "llm.W001": (
        _("A key or an address of a model is set, but no model: the built-in demo model answers."),
        _("Set LLM_MODEL to a name that the endpoint knows."),
    ),
}
"""The checks that concern an installation, in the reader's language: what is wrong, and the remedy."""


@dataclass(frozen=True, slots=True)
class Service:
    """Something that the product needs, and whether it answers."""

    name: str | Promise
    answers: bool


@dataclass(frozen=True, slots=True)
class Figure:
    """A count with its name."""

    name: str | Promise
    count: int


def of(request: HttpRequest) -> dict[str, Any]:
    """The template's context."""
    return {
        "title": _("Overview"),
        "model": answering_model(),
        "figures": _figures(),
        "turns": _turns(),
        "services": _services(),
        "warnings": _warnings(),
    }


def answering_model() -> Profile | None:
    """The model that answers for everybody; None when its stored key cannot be read."""
    try:
        return resolve_profile()
    except ModelMisconfigured:
        return None


def _figures() -> list[Figure]:
    week = timezone.now() - timedelta(days=7)
    return [
        Figure(_("Active users"), User.objects.filter(is_active=True).count()),
        Figure(_("Published flows"), Flow.objects.filter(published_version__gt=0, is_archived=False).count()),
        Figure(_("Conversations of the last 7 days"), Conversation.objects.filter(last_active_at__gte=week).count()),
    ]


def _turns() -> list[Figure]:
    """Turns of the last 24 hours by status; replaced ones are nobody's answer any more."""
    day = timezone.now() - timedelta(days=1)
    # A turn makes its session active. Starting there spares a scan of all turns ever, which have no index on time.
    recent = Turn.objects.filter(conversation__last_active_at__gte=day, started_at__gte=day)
    counted = dict(recent.order_by().values_list("status").annotate(Count("pk")))
    return [Figure(status.label, counted.get(status, 0)) for status in TurnStatus if status != TurnStatus.SUPERSEDED]


def _services() -> list[Service]:
    answers = {name: check() for name, check in CHECKS.items()} | {"worker": tasks.beats()}
    return [Service(SERVICES.get(name, name), ok) for name, ok in answers.items()]


def _warnings() -> list[tuple[str | Promise, str | Promise]]:
    found = [message for message in checks.run_checks() if message.level >= checks.WARNING]
    return [WARNINGS.get(message.id or "", (message.msg, message.hint or "")) for message in found]
