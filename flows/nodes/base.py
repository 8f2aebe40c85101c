"""What a node type is. A new type is one file in this folder that defines a `NodeType` and is listed in __init__."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field

from llm.types import Chunk, Message, Usage


class NodeConfig(BaseModel):
    """A node's configuration. Its JSON schema makes the form in the builder."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    timeout: float | None = Field(default=None, gt=0, le=3600)
    """Seconds that one attempt may take; None leaves it to the type."""
    retries: int = Field(default=0, ge=0, le=5)
    """Further attempts after a passing failure, as long as nothing was produced."""
    on_error: Literal["fail", "default", "branch"] = "fail"
    """A failure ends the run, gives `default`, or gives `default` and takes the branch "error" and no other."""
    default: dict[str, Any] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Delta:
    """A piece of text that a node is producing."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A piece of what the model thinks aloud; shown apart, never part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Result:
    """What a node gave in the end: its fields, the one branch it took, and the tokens it used."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    branch: str | None = None
    usage: Usage | None = None


Output = Delta | Reasoning | Result


class Conversing(Protocol):
    """What a node that talks to a model is given of the conversation. The engine only passes it on."""

    def prompt(self, *, system: str, words: str, answering: bool) -> tuple[Message, ...]:
        """The messages for one call: with memory for a node that answers, the last turns alone otherwise."""

    def stream(self, messages: tuple[Message, ...], **options: Any) -> AsyncGenerator[Chunk, None]:
        """The model's answer as `llm.types.Chunk`s."""


@dataclass(frozen=True, slots=True)
class NodeCall:
    """One execution of a node: its values are plain data, and no store can be reached through it."""

    node_id: str
    config: Any
    values: Mapping[str, Mapping[str, Any]]
    inputs: Mapping[str, Any]
    answering: bool
    conversing: Conversing


class NodeType:
    """One kind of node. Subclasses set the class attributes and write `run`.

    `run` yields any number of Delta and Reasoning and exactly one Result, the last. It raises for a failure;
    an error with `permanent = False` may be tried again when nothing was yielded before it.
    """

    name: ClassVar[str]
    fields: ClassVar[tuple[str, ...]] = ()
    """What a reference may name, however the node is configured."""
    config: ClassVar[type[NodeConfig]] = NodeConfig
    timeout: ClassVar[float] = 30.0
    """Seconds that one attempt may take."""

    def fields_of(self, config: Any) -> tuple[str, ...]:
        """What a reference may name of a node with this configuration."""
        return self.fields

    def branches_of(self, config: Any) -> tuple[str | None, ...]:
        """The branches that a node with this configuration takes when it succeeds; None is the way without a name."""
        return (None,)

    def run(self, call: NodeCall) -> AsyncGenerator[Output, None]:
        """Executes the node."""
        raise NotImplementedError
