"""What a run reports while it goes on."""

from dataclasses import dataclass

from flows.nodes.base import Proposal, Reasoning
from flows.pausing import State
from llm.types import Usage


@dataclass(frozen=True, slots=True)
class NodeStarted:
    node_id: str
    title: str


@dataclass(frozen=True, slots=True)
class NodeFinished:
    """`error` is the code of a failure that the node's `on_error` caught, else empty."""

    node_id: str
    title: str
    ms: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class ToolBegan:
    """The model of a node calls a tool."""

    node_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """That call is over; not `ok`: it gave nothing that is of use."""

    node_id: str
    name: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer. All pieces joined are the output of the run."""

    text: str


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens that one node used."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Paused:
    """The last step of a run that waits for the person; `state` is where it goes on."""

    proposal: Proposal
    state: State


Step = NodeStarted | NodeFinished | ToolBegan | ToolEnded | Text | Reasoning | Spent | Paused
