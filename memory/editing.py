"""What a person changes about one of their memories. No job overwrites it afterwards."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from memory import episodes
from memory.episodes.units import reindex_episode
from memory.errors import EpisodeNotFound, NotToBeChanged, RelationNotFound, SaysTheSame
from memory.extraction import Account
from memory.models import EntityKind, Episode, EpisodeStatus, MemoryOwner, Relation
from memory.models.episodes import fingerprint_of, squeezed
from memory.names import Link, Name, links_in, names_in
from memory.person import Person
from memory.redaction import redact
from memory.retention import restore

TEXT = ("title", "summary", "keywords")
CHOICES = ("importance", "pinned")


@dataclass(frozen=True, slots=True)
class Changes:
    """What is to be changed, None for what is not."""

    title: str | None = None
    summary: str | None = None
    keywords: Sequence[str] | None = None
    importance: int | None = None
    pinned: bool | None = None
    status: str | None = None

    def given(self, names: Sequence[str]) -> dict[str, Any]:
        """The changes to these fields; texts redacted."""
        values = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return {name: _redacted(value) for name, value in values.items()}


@transaction.atomic
def edit(user: Person, episode_id: UUID, changes: Changes) -> Episode:
    """Changes a memory of the user, all of it or nothing.

    Raises EpisodeNotFound; SaysTheSame when another active memory has these words; NotToBeChanged for archiving one
    that was replaced.
    """
    MemoryOwner.objects.lock(user)
    episode = Episode.objects.of(user).select_for_update().filter(pk=episode_id).first()
    if episode is None:
        raise EpisodeNotFound
    words, choices = changes.given(TEXT), changes.given(CHOICES)
    if words or choices:
        _apply(user, episode, words | choices)
    if changes.status and changes.status != episode.status:
        episode = _move(user, episode, changes.status)
    return episode


def change_relation(user: Person, relation_id: int, *, valid_from: datetime, invalid_at: datetime | None) -> Relation:
    """Sets from when until when a relation of the user held."""
    mine = Relation.objects.of(user).filter(pk=relation_id)
    if not mine.update(valid_from=valid_from, invalid_at=invalid_at):
        raise RelationNotFound
    return mine.select_related("source", "target").get()


def _redacted(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value.strip())
    return [redact(word) for word in value] if isinstance(value, list) else value


def _apply(user: Person, episode: Episode, changes: dict[str, Any]) -> None:
    """Stores what is really new, and makes anew what was made of it."""
    changes = {name: value for name, value in changes.items() if getattr(episode, name) != value}
    if not changes:
        return
    for name, value in changes.items():
        setattr(episode, name, value)
    episode.edited |= changes.keys() != {"pinned"}
    episode.updated_at = timezone.now()
    if "summary" in changes:
        episode.fingerprint, episode.corrected = fingerprint_of(episode.summary), True
        _refuse_twin(user, episode)
    episode.save(update_fields=[*changes, "edited", "corrected", "updated_at", "fingerprint"])
    if "summary" in changes:
        episodes.retell(user, episode, _account(episode))
    reindex_episode(episode)


def _refuse_twin(user: Person, episode: Episode) -> None:
    twins = Episode.objects.of(user).recalled().filter(fingerprint=episode.fingerprint).exclude(pk=episode.pk)
    if episode.status == EpisodeStatus.ACTIVE and twins.exists():
        raise SaysTheSame


def _account(episode: Episode) -> Account:
    """The names in the new words by rule, and those of before that still stand in them, relations between them too."""
    text = squeezed(episode.summary)
    kept = [Name(row.name, EntityKind(row.kind)) for row in episode.entities.all() if row.key in text]
    standing = episode.relations.select_related("source", "target")
    links = [
        Link(row.source.name, row.relation, row.target.name)
        for row in standing
        if row.source.key in text and row.target.key in text
    ]
    found = names_in(episode.summary)
    return Account(
        title=episode.title,
        summary=episode.summary,
        names=(*kept, *found),
        links=(*links, *links_in(episode.summary, found)),
    )


def _move(user: Person, episode: Episode, status: str) -> Episode:
    """Lets a memory rest, or takes it up again."""
    if status == EpisodeStatus.ACTIVE:
        active = restore(user, episode.pk)
        if active is None or active.status != EpisodeStatus.ACTIVE:
            raise SaysTheSame
        return active
    if episode.status != EpisodeStatus.ACTIVE:
        raise NotToBeChanged
    episode.status, episode.updated_at = EpisodeStatus(status), timezone.now()
    episode.save(update_fields=["status", "updated_at"])
    reindex_episode(episode)
    return episode
