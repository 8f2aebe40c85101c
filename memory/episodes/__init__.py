"""Where episodes live: one contract (`memory.episodes.base`), and the backend that holds the truth, PostgreSQL."""

from memory.episodes.base import Draft, Graph
from memory.episodes.postgres import (
    find_related_episodes,
    forget,
    forgotten,
    graph_size,
    is_available,
    related_graph,
    retell,
    save_episode,
)

__all__ = [
    "Draft",
    "Graph",
    "find_related_episodes",
    "forget",
    "forgotten",
    "graph_size",
    "is_available",
    "related_graph",
    "retell",
    "save_episode",
]
