"""The contract of a backend for episodes: a module with these functions. `tests/contracts/` holds each to it.

    save_episode(user, draft) -> Episode
        Stores the draft with its entities and relations, in the caller's transaction. What says the same as an active
        episode of the user is stored as merged into it. Raises IntegrityError for a stretch that has one already.
    retell(user, episode, account)
        Gives an episode, whose text was stored, the entities and relations of another account. What nothing else
        names goes.
    find_related_episodes(user, keywords, *, limit) -> list[Episode]
        Active episodes of the user that name one of the keywords, by entity first, the newest first.
    related_graph(user, text) -> Graph
        The entities named in the text, and what is one step of a relation away from them.
    forget(user, episode_ids) -> int
        Deletes episodes of the user with the entities and relations that no other episode names; how many went.
    graph_size(user) -> int
        How many entities and relations the user has.
    is_available() -> bool
        Whether the backend answers now.

Every call takes the user, and none sees the rows of another.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memory.extraction import Account
from memory.models import Conversation, Entity, EpisodeOrigin, Relation, Turn


@dataclass(frozen=True, slots=True)
class Draft:
    """An episode in the making: its account, and where it came from. One written by hand has no session."""

    account: Account
    origin: EpisodeOrigin
    occurred_from: datetime
    occurred_to: datetime
    conversation: Conversation | None = None
    flow_id: int | None = None
    turns: Sequence[Turn] = ()
    from_seq: int | None = None
    to_seq: int | None = None
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Graph:
    """Entities named in a text, and the relations that begin or end at them, still valid ones first."""

    entities: Sequence[Entity] = field(default_factory=list)
    relations: Sequence[Relation] = field(default_factory=list)
