"""The tables of conversations and memory."""

from memory.models.conversation import REPLAYED, Conversation, Turn, TurnStatus
from memory.models.erasure import Erasure
from memory.models.owner import MemoryOwner

__all__ = ["REPLAYED", "Conversation", "Erasure", "MemoryOwner", "Turn", "TurnStatus"]
