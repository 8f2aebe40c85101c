"""The seam to language models: two verbs over one stream, whichever provider answers.

    profile = llm.resolve_profile()
    async with aclosing(llm.stream(request, profile=profile)) as chunks: ...  # a chat
    completion = llm.complete(request, profile=profile)  # a job

Nothing here knows of flows, memory or people. `llm.base` holds the contract of a provider.
"""

from llm.attempts import stream
from llm.blocking import complete
from llm.embedders import Embedder, resolve_embedder
from llm.errors import ProviderError
from llm.lifespan import aclose, aopen
from llm.profile import Profile, recent_profile, resolve_profile
from llm.types import ChatRequest, Chunk, Completion, Message, ToolCall, ToolSpec, Usage

__all__ = [
    "ChatRequest",
    "Chunk",
    "Completion",
    "Embedder",
    "Message",
    "Profile",
    "ProviderError",
    "ToolCall",
    "ToolSpec",
    "Usage",
    "aclose",
    "aopen",
    "complete",
    "recent_profile",
    "resolve_embedder",
    "resolve_profile",
    "stream",
]
