"""Noticing how somebody works, from their memories: suggestions with evidence, for the person alone to decide on.

The cursor `insight_until` of the figures is the queue. A due person is claimed, their new memories read and given to
the model outside any transaction, and what it noticed stored in one that finds the owner as they were: the same epoch,
under the lock that whoever erases takes. Evidence is only what still stands. Without a model, topics alone are
suggested: the keywords that several memories share.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

import llm
from llm.errors import ProviderError
from llm.profile import Profile
from memory.claims import claim
from memory.extraction import Unusable
from memory.models import Entity, EntityKind, Episode, JobKind, MemoryOwner
from memory.spending import spent
from profiles.insight_answer import Noticed, cleaned, question, read, told
from profiles.models import Figures, ProfileTag, TagKind, TagStatus, UserProfile, tag_key
from profiles.private_matters import is_private

logger = structlog.get_logger(__name__)
CLAIM = timedelta(minutes=10)
READ = 30
"""Memories that one call of a model is given."""
LOOKED_AT = 300
"""Memories whose keywords are compared without a model."""
SEVERAL = 2
TOPICS = 8
BATCH = 1_000
"""Suggestions that are swept in one transaction."""
ATTEMPTS = 5
FIRST_WAIT = 60.0
"""Seconds after a failure, doubled each time."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What is new in the memory of a person, the oldest first, and the owner's epoch when it was read."""

    figures: Figures
    epoch: int | None
    episodes: Sequence[Episode]

    @property
    def user_id(self) -> int:
        return self.figures.user_id


def notice_due_people(*, limit: int = 20) -> int:
    """Reads what is new in the memory of up to `limit` people; how many were claimed."""
    profile = llm.resolve_profile()
    claimed = _claimed(limit)
    for figures in claimed:
        reading = _reading(figures)
        noticed = _noticed(reading, profile)
        if noticed is not None:
            _store(reading, noticed)
    return len(claimed)


def _claimed(limit: int) -> list[Figures]:
    people = UserProfile.objects.filter(user__figures=None, user__episodes__isnull=False).distinct()
    rows = (Figures(user_id=pk) for pk in people.values_list("pk", flat=True))
    Figures.objects.bulk_create(rows, ignore_conflicts=True)
    rested = timezone.now() - timedelta(seconds=settings.INSIGHT_REST_SECONDS)
    new = Episode.objects.recalled().filter(user=OuterRef("user"), created_at__lte=rested)
    unread = Exists(new.filter(created_at__gt=OuterRef("insight_until")))
    forgetful = MemoryOwner.objects.filter(user=OuterRef("user"), memory_enabled=False)
    due = Figures.objects.filter(Q(insight_until=None) & Exists(new) | unread, ~Exists(forgetful)).order_by("pk")
    return claim(due, column="insight_claimed_until", lasting=CLAIM, limit=limit)


def _reading(figures: Figures) -> Reading:
    epoch = MemoryOwner.objects.filter(pk=figures.pk).values_list("epoch", flat=True).first()
    new = Episode.objects.of(figures.user).recalled().order_by("created_at", "pk")
    if figures.insight_until:
        new = new.filter(created_at__gt=figures.insight_until)
    return Reading(figures, epoch, list(new[:READ]))


def _noticed(reading: Reading, profile: Profile) -> list[Noticed] | None:
    """What the memories show; None when it is to be tried again later."""
    if profile.provider == "offline":
        return by_keywords(reading.figures)
    texts = {episode.pk: text for episode in reading.episodes if (text := told(episode))}
    if not texts:
        return []
    try:
        return _ask(reading, texts, profile)
    except (ProviderError, Unusable) as error:
        logger.warning("nothing noticed", user_id=reading.user_id, error=error.code)
        if reading.figures.insight_failures + 1 < ATTEMPTS:
            _postpone(reading.figures)
            return None
        return by_keywords(reading.figures)


def _ask(reading: Reading, texts: dict[UUID, str], profile: Profile) -> list[Noticed]:
    """Raises ProviderError or Unusable."""
    rejected = ProfileTag.objects.filter(user=reading.user_id, status=TagStatus.REJECTED).exclude(value="")
    asked = question(list(texts.values()), rejected=rejected.values_list("value", flat=True))
    completion = llm.complete(asked, profile=profile)
    spent(reading.user_id, JobKind.PROFILE, completion.usage)
    return read(completion, list(texts))


def by_keywords(figures: Figures) -> list[Noticed]:
    """The keywords that several memories of the person share, one of them new, as topics: names of people are none."""
    people = Entity.objects.of(figures.user).filter(kind=EntityKind.PERSON).values_list("name", flat=True)
    names = set(map(tag_key, people))
    found: dict[str, set[UUID]] = defaultdict(set)
    values: dict[str, str] = {}
    recent = Episode.objects.of(figures.user).recalled().order_by("-occurred_to")
    new: set[UUID] = set()
    for pk, at, keywords, summary in recent.values_list("pk", "created_at", "keywords", "summary")[:LOOKED_AT]:
        if figures.insight_until is None or at > figures.insight_until:
            new.add(pk)
        for word in map(cleaned, map(str, () if is_private(summary) else keywords)):
            if word and tag_key(word) not in names:
                values.setdefault(tag_key(word), word)
                found[tag_key(word)].add(pk)
    several = [key for key in found if len(found[key]) >= SEVERAL and found[key] & new]
    shared = sorted(several, key=lambda key: (-len(found[key]), key))
    return [Noticed(TagKind.TOPIC, values[key], frozenset(found[key])) for key in shared[:TOPICS]]


@transaction.atomic
def _store(reading: Reading, noticed: Iterable[Noticed]) -> None:
    """Keeps what was noticed, if nothing was erased or switched off since the memories were read."""
    MemoryOwner.objects.make([reading.user_id])
    owner = MemoryOwner.objects.select_for_update().get(pk=reading.user_id)
    if not owner.memory_enabled or owner.epoch != (reading.epoch or 0):
        _release(reading.figures)
        return
    suggest(reading.figures, noticed)
    until = reading.episodes[-1].created_at if reading.episodes else reading.figures.insight_until
    _release(reading.figures, until)


def suggest(figures: Figures, noticed: Iterable[Noticed]) -> None:
    """Adds suggestions and evidence: what was rejected stays so, what is confirmed counts on.

    For a transaction that holds the lock of the owner.
    """
    mine = ProfileTag.objects.of(figures.user)
    known = {(tag.kind, tag.key): tag for tag in mine.prefetch_related("evidence")}
    rejected = {key for (_kind, key), tag in known.items() if tag.status == TagStatus.REJECTED}
    standing = {episode.pk: episode for episode in Episode.objects.of(figures.user).recalled().only("pk")}
    for thing in noticed:
        key, episodes = tag_key(thing.value), thing.episodes & standing.keys()
        if key in rejected or not episodes:
            continue
        tag = known.get((thing.kind, key)) or _made(figures, thing)
        new = episodes - {episode.pk for episode in tag.evidence.all()}
        tag.evidence.add(*(standing[pk] for pk in new))
        if new:
            ProfileTag.objects.filter(pk=tag.pk).update(count=F("count") + len(new), noticed_at=timezone.now())


def sweep_suggestions(*, days: int) -> int:
    """Deletes suggestions that are stale; how many. One that its owner decides on right now is left alone.

    What they were noticed in is read already: only new memories bring them back.
    """
    swept = 0
    while True:
        with transaction.atomic():
            batch = ProfileTag.objects.stale(days).select_for_update(skip_locked=True).order_by("pk")
            found = list(batch.values_list("pk", flat=True)[:BATCH])
            ProfileTag.objects.filter(pk__in=found).delete()
        swept += len(found)
        if len(found) < BATCH:
            return swept


def _made(figures: Figures, thing: Noticed) -> ProfileTag:
    return ProfileTag.objects.create(
        user_id=figures.user_id, kind=thing.kind, key=tag_key(thing.value), value=thing.value
    )


def _release(figures: Figures, until: datetime | None = None) -> None:
    """Gives the claim back; with `until` the memories up to then are read."""
    read_on = {"insight_until": until, "insight_failures": 0} if until else {}
    Figures.objects.filter(pk=figures.pk).update(insight_claimed_until=None, **read_on)


def _postpone(figures: Figures) -> None:
    wait = timedelta(seconds=FIRST_WAIT * 2.0**figures.insight_failures)
    Figures.objects.filter(pk=figures.pk).update(
        insight_claimed_until=timezone.now() + wait, insight_failures=F("insight_failures") + 1
    )
