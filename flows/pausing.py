"""What a paused run is, so that it can go on in another turn, another process, another week.

Values only: what each node that ended gave, and which way it took. Memory is no part of it: a run that goes on is
given the memory of the turn that it goes on in.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flows.nodes.base import Answered


@dataclass(frozen=True, slots=True)
class State:
    """The nodes that ended, by id: what they gave and the branch they took. `node_id` is the one that proposed."""

    node_id: str
    values: Mapping[str, Mapping[str, Any]]
    branches: Mapping[str, str | None]

    def as_json(self) -> dict[str, Any]:
        """`{node_id, values, branches}`, as it is stored."""
        return {"node_id": self.node_id, "values": dict(self.values), "branches": dict(self.branches)}

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> "State":
        """The state that was stored."""
        return cls(data["node_id"], data["values"], data["branches"])


@dataclass(frozen=True, slots=True)
class Resume:
    """Where a run goes on, and what the person answered."""

    state: State
    answer: Answered

    def answer_for(self, node_id: str) -> Answered | None:
        """The answer, for the node that proposed and for no other."""
        return self.answer if node_id == self.state.node_id else None
