"""The tables of conversations and memory."""

from memory.models.conversation import REPLAYED, Conversation, TitleSource, Turn, TurnStatus
from memory.models.erasure import Erasure
from memory.models.owner import MemoryOwner
from memory.models.sharing import SharedConversation

__all__ = [
    "REPLAYED",
    "Conversation",
    "Erasure",
    "MemoryOwner",
    "SharedConversation",
    "TitleSource",
    "Turn",
    "TurnStatus",
]
