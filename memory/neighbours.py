"""Which memories belong together because they name the same things, whichever conversation each came from."""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection

from memory.person import Person

MOST = 10
"""Of one memory; those that share most names first."""

# One statement for a page of memories, however many of them there are.
SHARING = """
WITH shared AS (
    SELECT mine.episode_id AS episode, other.episode_id AS related, count(*) AS names
    FROM memory_entity_episodes mine
    JOIN memory_entity_episodes other ON other.entity_id = mine.entity_id AND other.episode_id <> mine.episode_id
    WHERE mine.episode_id = ANY(%(episodes)s) GROUP BY 1, 2
),
ranked AS (
    SELECT shared.episode, shared.related, row_number() OVER (
        PARTITION BY shared.episode ORDER BY shared.names DESC, found.occurred_to DESC, found.id DESC
    ) AS place
    FROM shared JOIN memory_episode found ON found.id = shared.related
    WHERE found.user_id = %(user)s AND found.status = 'active' AND found.deleting_until IS NULL
)
SELECT episode, related FROM ranked WHERE place <= %(most)s ORDER BY episode, place
"""


def related_ids(user: Person, episodes: Sequence[UUID]) -> dict[UUID, list[UUID]]:
    """For each of these memories of the user, the ids of the active ones that share names with it."""
    found: dict[UUID, list[UUID]] = {episode: [] for episode in episodes}
    if not episodes or user.pk is None:
        return found
    with connection.cursor() as cursor:
        cursor.execute(SHARING, {"episodes": list(episodes), "user": user.pk, "most": MOST})
        for episode, related in cursor.fetchall():
            found[episode].append(related)
    return found
