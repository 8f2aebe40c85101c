"""What the owner of tags decides about them, and the tags as they and their manager see them."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Prefetch, QuerySet

from memory.models import Episode
from memory.person import Person
from memory.redaction import redact
from profiles.errors import TagNotFound
from profiles.models import ProfileTag, TagKind, TagStatus, UserProfile, tag_key

FIELDS: dict[str, TagKind] = {
    "work_style_tags": TagKind.STYLE,
    "expertise_areas": TagKind.EXPERTISE,
    "common_topics": TagKind.TOPIC,
}
"""The kinds that a manager may be shown, by their names in the API."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the owner wants of one tag, None for what stays."""

    kind: TagKind
    value: str
    status: str | None = None
    shared: bool | None = None


def tags_of(user: Person) -> dict[TagKind, list[ProfileTag]]:
    """What the owner is shown by kind, the most frequent first; the evidence that still stands is at hand."""
    standing = Episode.objects.of(user).only("pk", "title", "occurred_to")
    tags = ProfileTag.objects.of(user).shown().prefetch_related(Prefetch("evidence", queryset=standing))
    found: dict[TagKind, list[ProfileTag]] = defaultdict(list)
    for tag in tags:
        found[TagKind(tag.kind)].append(tag)
    return found


def shared_tags(user: Person) -> QuerySet[ProfileTag]:
    """What a manager may see of the user's tags: confirmed and shared, no tone."""
    return ProfileTag.objects.of(user).confirmed().filter(shared=True, kind__in=FIELDS.values()).exclude(value="")


def own_tags(user: Person) -> dict[str, list[dict[str, Any]]]:
    """The tags as the API gives them to their owner."""
    known = tags_of(user)
    return {name: [_own(tag) for tag in known[kind]] for name, kind in FIELDS.items()}


def _own(tag: ProfileTag) -> dict[str, Any]:
    counted = {"topic": tag.value, "count": tag.count} if tag.kind == TagKind.TOPIC else {}
    evidence = [str(episode.pk) for episode in tag.evidence.all()]
    return counted | {"value": tag.value, "status": tag.status, "shared": tag.shared, "evidence": evidence}


@transaction.atomic
def decide(user: Person, decision: Decision) -> None:
    """Confirms, rejects, shares or withholds a tag of the user. Raises TagNotFound."""
    tag = _held(user, decision.kind, decision.value)
    status = decision.status or tag.status
    if decision.kind == TagKind.TONE and status == TagStatus.CONFIRMED:
        UserProfile.objects.filter(pk=user.pk).update(communication_tone=tag.value)
    tag.status = status
    tag.shared = tag.shared if decision.shared is None else decision.shared
    if status != TagStatus.CONFIRMED and not tag.evidence.exists():
        _let_go(tag)
    else:
        tag.save(update_fields=["status", "shared"])


@transaction.atomic
def correct(user: Person, decision: Decision, words: str) -> None:
    """Puts the owner's own words in the place of a tag, confirmed, with its evidence. Raises TagNotFound."""
    tag, value = _held(user, decision.kind, decision.value), redact(" ".join(words.split()))
    if not value or tag_key(value) == tag.key:
        decide(user, Decision(decision.kind, decision.value, TagStatus.CONFIRMED, decision.shared))
        return
    fields = {"value": value, "status": TagStatus.SUGGESTED, "shared": tag.shared, "count": tag.count}
    own, is_new = ProfileTag.objects.get_or_create(user_id=user.pk, kind=tag.kind, key=tag_key(value), defaults=fields)
    if not is_new and not own.value:
        ProfileTag.objects.filter(pk=own.pk).update(value=value)
    own.evidence.add(*tag.evidence.all())
    decide(user, Decision(decision.kind, value, TagStatus.CONFIRMED, decision.shared))
    decide(user, Decision(decision.kind, tag.value, TagStatus.REJECTED))


def _held(user: Person, kind: TagKind, value: str) -> ProfileTag:
    held = ProfileTag.objects.of(user).select_for_update(of=("self",)).exclude(value="")
    tag = held.filter(kind=kind, key=tag_key(value)).first()
    if tag is None:
        raise TagNotFound
    return tag


def _let_go(tag: ProfileTag) -> None:
    """Without evidence a suggestion is nothing, and of a rejected one the hash is enough."""
    if tag.status == TagStatus.SUGGESTED:
        tag.delete()
        return
    tag.value = ""
    tag.save(update_fields=["status", "shared", "value"])
