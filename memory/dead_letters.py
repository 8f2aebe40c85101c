"""Reading once more what no model could make anything of, when an administrator asks for it."""

from collections.abc import Sequence

import structlog
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

import llm
from llm.errors import ProviderError
from llm.profile import Profile
from memory.buried import living
from memory.consolidation import CLAIM, ask
from memory.episodes.units import reindex_episode
from memory.extraction import Account, Unusable
from memory.models import Conversation, DeadLetter, Episode, EpisodeOrigin, Turn
from memory.models.episodes import fingerprint_of
from memory.retrieval.drafts import is_searched

logger = structlog.get_logger(__name__)


def ask_for_retry(letters: QuerySet[DeadLetter]) -> int:
    """Makes them due at once; how many."""
    return letters.update(retry_at=timezone.now())


def retry_due(*, limit: int = 20) -> int:
    """Reads up to `limit` letters that are due; how many episodes came of it."""
    profile = llm.resolve_profile()
    return sum(_retry(letter, profile) for letter in _claimed(limit))


def _claimed(limit: int) -> list[DeadLetter]:
    now = timezone.now()
    with transaction.atomic():
        due = DeadLetter.objects.filter(retry_at__lte=now).select_related("conversation")
        claimed = list(due.select_for_update(skip_locked=True, of=("self",)).order_by("retry_at")[:limit])
        DeadLetter.objects.filter(pk__in=[letter.pk for letter in claimed]).update(retry_at=now + CLAIM)
    return claimed


def _retry(letter: DeadLetter, profile: Profile) -> bool:
    stretch = Turn.objects.filter(
        conversation=letter.conversation_id, user=letter.user_id, seq__gte=letter.from_seq, seq__lt=letter.to_seq
    )
    turns = [turn for turn in living(stretch.order_by("seq")) if is_searched(turn)]
    if not turns:
        letter.delete()
        return False
    try:
        account = ask(letter.user_id, turns, profile)
    except (ProviderError, Unusable) as error:
        logger.warning("failed to add episode", session_id=str(letter.conversation_id), error=error.code)
        DeadLetter.objects.filter(pk=letter.pk).update(error=error.code, attempts=letter.attempts + 1, retry_at=None)
        return False
    return _replace(letter, turns, account)


@transaction.atomic
def _replace(letter: DeadLetter, turns: Sequence[Turn], account: Account) -> bool:
    """Puts the account in the place of the extractive one, unless that was edited or erased meanwhile."""
    # The session first, as whoever erases it does: neither may wait for the other.
    if not Conversation.objects.select_for_update().filter(pk=letter.conversation_id):
        return False
    mine = Episode.objects.select_for_update().filter(
        conversation=letter.conversation_id,
        user=letter.user_id,
        from_seq=letter.from_seq,
        origin=EpisodeOrigin.EXTRACTIVE,
        edited=False,
        deleting_until=None,
    )
    episode = mine.first()
    gone, _ = DeadLetter.objects.filter(pk=letter.pk).delete()
    if episode is None or not gone or len(living(turns)) < len(turns):
        return False
    episode.title, episode.summary = account.title, account.summary
    episode.keywords, episode.importance = list(account.keywords), account.importance
    episode.origin, episode.fingerprint = EpisodeOrigin.EXTRACTED, fingerprint_of(account.summary)
    episode.updated_at = timezone.now()
    episode.save()
    reindex_episode(episode)
    return True
