"""What a run reports while it goes on."""

from dataclasses import dataclass

from flows.nodes.base import Reasoning
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
class Text:
    """A piece of the answer. All pieces joined are the output of the run."""

    text: str


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens that one node used."""

    usage: Usage


Step = NodeStarted | NodeFinished | Text | Reasoning | Spent
