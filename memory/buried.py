"""Which turns may still be found and remembered: those that no deleted memory was made from."""

from collections.abc import Iterable
from uuid import UUID

from memory.models import Tombstone, Turn

UNTOLD = "[answered from a memory that was deleted]"
"""In the place of an answer that told a deleted memory."""


def living(turns: Iterable[Turn]) -> list[Turn]:
    """The turns without those that lie under a tombstone; where one lies on the answer alone, that is replaced.

    For reading: none of them may be saved.
    """
    kept = list(turns)
    stones = Tombstone.objects.filter(turn__in=[turn.pk for turn in kept], user__in={turn.user_id for turn in kept})
    buried: dict[UUID, bool] = {}
    for turn_id, answer_only in stones.values_list("turn", "answer_only"):
        buried[turn_id] = buried.get(turn_id, True) and answer_only
    for turn in kept:
        if buried.get(turn.pk) and turn.output:
            turn.output = UNTOLD
    return [turn for turn in kept if buried.get(turn.pk, True)]
