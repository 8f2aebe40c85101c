"""Memories for tests, stored as the product stores them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from memory import episodes
from memory.episodes.base import Draft
from memory.episodes.units import index_episode, prepared
from memory.extraction import Account
from memory.models import Conversation, Episode, EpisodeOrigin
from memory.names import Link, Name, links_in, names_in


def account(summary: str, *, importance: int = 3, names: Sequence[Name] = (), links: Sequence[Link] = ()) -> Account:
    """What a model would make of it, with the names that stand in it."""
    found = tuple(names) or tuple(names_in(summary))
    return Account(
        title=summary[:40],
        summary=summary,
        keywords=(),
        importance=importance,
        names=found,
        links=tuple(links) or tuple(links_in(summary, list(found))),
    )


def remembered(
    user: User, summary: str, *, conversation: Conversation | None = None, days: int = 0, **fields: Any
) -> Episode:
    """A memory of `user` that is so many days old, drawn from all turns of the conversation if one is given."""
    at = timezone.now() - timedelta(days=days)
    turns = list(conversation.turns.order_by("seq")) if conversation else []
    draft = Draft(
        account=account(summary, importance=fields.pop("importance", 3)),
        origin=fields.pop("origin", EpisodeOrigin.EXTRACTED),
        occurred_from=at,
        occurred_to=at,
        conversation=conversation,
        flow_id=conversation.flow_id if conversation else None,
        turns=turns,
        from_seq=turns[0].seq if turns else None,
        to_seq=turns[-1].seq + 1 if turns else None,
        pinned=fields.pop("pinned", False),
    )
    unit = prepared(draft)
    with transaction.atomic():
        episode = episodes.save_episode(user, draft)
        index_episode(episode, unit)
    return aged(episode, at, **fields)


def aged(episode: Episode, at: datetime, **fields: Any) -> Episode:
    """The episode as nobody has touched it since then."""
    Episode.objects.filter(pk=episode.pk).update(created_at=at, updated_at=at, **fields)
    episode.refresh_from_db()
    return episode
