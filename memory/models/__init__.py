"""The tables of conversations and memory."""

from memory.models.conversation import REPLAYED, Conversation, TitleSource, Turn, TurnStatus
from memory.models.episodes import (
    MADE_BY_JOBS,
    Entity,
    EntityKind,
    Episode,
    EpisodeOrigin,
    EpisodeStatus,
    Relation,
)
from memory.models.erasure import Erasure
from memory.models.jobs import DeadLetter, JobKind, TokenUse
from memory.models.owner import ForgetfulFlow, MemoryOwner
from memory.models.sharing import SharedConversation
from memory.models.tombstones import Tombstone
from memory.models.units import Posting, Unit, UnitKind, UnitVector, VectorModel

__all__ = [
    "MADE_BY_JOBS",
    "REPLAYED",
    "Conversation",
    "DeadLetter",
    "Entity",
    "EntityKind",
    "Episode",
    "EpisodeOrigin",
    "EpisodeStatus",
    "Erasure",
    "ForgetfulFlow",
    "JobKind",
    "MemoryOwner",
    "Posting",
    "Relation",
    "SharedConversation",
    "TitleSource",
    "TokenUse",
    "Tombstone",
    "Turn",
    "TurnStatus",
    "Unit",
    "UnitKind",
    "UnitVector",
    "VectorModel",
]
