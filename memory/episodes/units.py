"""An episode as search finds it: its unit, made before the transaction that stores the episode, with its vector."""

from collections.abc import Sequence
from dataclasses import dataclass

from llm.embedders import Embedder, resolve_embedder
from memory.episodes.base import Draft
from memory.models import Episode, EpisodeStatus, Unit, UnitKind
from memory.retrieval.embedding import embedded
from memory.retrieval.storing import Counted, counted, store, words_of
from memory.retrieval.vector import Vector

PINNED = 1.25
"""What a pinned episode counts more."""
STEP = 0.05
"""What each step of importance counts more than the middle one."""
SEARCHED = (EpisodeStatus.ACTIVE, EpisodeStatus.ARCHIVED)
"""What has a unit: archived ones are found by a person who searches."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A unit with its tokens, and its vector where an embedder gave one."""

    unit: Counted
    vectors: list[Vector] | None
    embedder: Embedder | None


def text_of(title: str, summary: str, keywords: list[str]) -> str:
    """What of an episode is searched and recalled."""
    extra = [word for word in keywords if word not in summary]
    heading = title if title and title.rstrip("…") not in summary else ""
    return "\n".join(filter(None, (heading, summary, " ".join(extra))))


def weight_of(*, importance: int, pinned: bool) -> float:
    """What an episode counts more or less than a turn."""
    return (1 + STEP * (importance - 3)) * (PINNED if pinned else 1.0)


def prepared(draft: Draft) -> Prepared:
    """The unit of an episode in the making. Calls the embedder: not for a transaction."""
    account = draft.account
    unit = Unit(
        kind=UnitKind.EPISODE,
        conversation=draft.conversation,
        flow_id=draft.flow_id,
        seq=draft.from_seq or 0,
        occurred_at=draft.occurred_to,
        text=text_of(account.title, account.summary, list(account.keywords)),
        weight=weight_of(importance=account.importance, pinned=draft.pinned),
    )
    made = counted(unit)
    embedder = resolve_embedder()
    vectors = embedded([words_of(unit)], embedder=embedder)
    return Prepared(made, list(vectors) if vectors is not None else None, embedder)


def index_episode(episode: Episode, ready: Prepared) -> None:
    """Stores the unit of an episode that was just stored; one that is merged into another has none."""
    if episode.status == EpisodeStatus.ACTIVE:
        unit = ready.unit[0]
        unit.user_id, unit.episode = episode.user_id, episode
        store([ready.unit], vectors=ready.vectors, embedder=ready.embedder)


def reindex_episode(episode: Episode) -> None:
    """Makes the unit of a stored episode anew: its text or its status has changed.

    Its vector is made by the next job. For a transaction that has locked the episode.
    """
    reindex_episodes([episode])


def reindex_episodes(changed: Sequence[Episode]) -> None:
    """The same for any number of episodes, in a constant number of statements."""
    owners = {episode.user_id for episode in changed}
    Unit.objects.filter(episode__in=[episode.pk for episode in changed], user__in=owners).delete()
    searched = [episode for episode in changed if episode.status in SEARCHED]
    if searched:
        store([counted(_unit(episode)) for episode in searched], vectors=None, embedder=resolve_embedder())


def _unit(episode: Episode) -> Unit:
    return Unit(
        user_id=episode.user_id,
        kind=UnitKind.EPISODE,
        episode=episode,
        conversation_id=episode.conversation_id,
        flow_id=episode.flow_id,
        seq=episode.from_seq or 0,
        occurred_at=episode.occurred_to,
        text=text_of(episode.title, episode.summary, episode.keywords),
        weight=weight_of(importance=episode.importance, pinned=episode.pinned),
        archived=episode.status == EpisodeStatus.ARCHIVED,
    )
