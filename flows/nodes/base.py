"""What a node type is. A new type is one file in this folder that defines a `NodeType` and is listed in __init__."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any, ClassVar, Literal, Protocol
from uuid import UUID

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


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something that only the person may do: a node yields it INSTEAD of its Result, as its last output.

    The run pauses there. `text` is said to the person and is never empty; `card` is JSON, what the confirm card shows
    and what `action.proposed` carries. Once the person has answered, the same node runs again, in a new turn, and
    finds the answer in `NodeCall.answer`. `kind` says which fields may be answered (`flows.cards`). `replaces` is an
    open action in whose place this one comes; `usage` the tokens used so far.
    """

    kind: str
    card: Mapping[str, Any]
    text: str
    replaces: UUID | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """The model of the node calls a tool. What it calls it with is told to nobody."""

    name: str


@dataclass(frozen=True, slots=True)
class ToolAnswered:
    """That call is over; not `ok`: it gave nothing that is of use."""

    name: str
    ok: bool


Output = Delta | Reasoning | ToolCalled | ToolAnswered | Result | Proposal


@dataclass(frozen=True, slots=True)
class Answered:
    """What the person said to a Proposal: `card` as they saw it, `fields` what they changed in it."""

    accepted: bool
    fields: Mapping[str, Any]
    card: Mapping[str, Any]
    action_id: UUID


@dataclass(frozen=True, slots=True)
class PersonFound:
    """Somebody whom the speaker may give work to; `said` is how a text called them, its case and width folded."""

    user_id: int
    display_name: str
    department: str = ""
    position: str = ""
    said: str = ""


@dataclass(frozen=True, slots=True)
class DueFound:
    """When something is due: aware, in the speaker's zone, perhaps past. `words` said it, case and width folded."""

    at: datetime
    words: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """The card that the turn right before this one waits with, still open; `zone` is the speaker's."""

    action_id: UUID
    kind: str
    card: Mapping[str, Any]
    zone: tzinfo


@dataclass(frozen=True, slots=True)
class WorkToGive:
    """A job to be given. `due_at` is aware; the same `client_key` gives the same task once."""

    title: str
    assignee_id: int
    client_key: str
    description: str = ""
    due_at: datetime | None = None


class Working(Protocol):
    """How nodes reach people and work: as the speaker, with plain values. No store can be reached through it."""

    async def people_in(self, text: str) -> tuple[PersonFound, ...]:
        """The people whom `text` names, only among those that the speaker may give work to."""

    async def people_called(self, name: str) -> tuple[PersonFound, ...]:
        """The same for a bare name."""

    async def due_in(self, text: str) -> DueFound | None:
        """When `text` says that something is due."""

    async def waiting(self) -> Waiting | None:
        """The card that these words may be a reply to."""

    async def give(self, work: WorkToGive) -> dict[str, Any]:
        """Gives the work, the permission checked again: `{task_id, url, assignee, due_at}`.

        `assignee` is the name to show; `due_at` is UTC with Z, or None. Raises the errors of `profiles.work.give`.
        """


@dataclass(frozen=True, slots=True)
class Remembered:
    """What memory holds about a query, as dated lines; empty for nothing. `missing` names what was out of reach."""

    lines: str = ""
    missing: tuple[str, ...] = ()
    is_off: bool = False


class Conversing(Protocol):
    """What a node that talks to a model is given of the conversation. The engine only passes it on."""

    def prompt(self, *, system: str, words: str, answering: bool, spare: int = 0) -> tuple[Message, ...]:
        """The messages for one call: with memory for a node that answers, the last turns alone otherwise.

        `spare` tokens are kept free for what the node adds to them.
        """

    def stream(self, messages: tuple[Message, ...], **options: Any) -> AsyncGenerator[Chunk, None]:
        """The model's answer as `llm.types.Chunk`s."""

    async def search_memory(self, query: str) -> Remembered:
        """What the person said in other conversations, as far as the flow and their switches allow."""


@dataclass(frozen=True, slots=True)
class NodeCall:
    """One execution of a node: its values are plain data, and no store can be reached through it."""

    node_id: str
    config: Any
    values: Mapping[str, Mapping[str, Any]]
    inputs: Mapping[str, Any]
    answering: bool
    conversing: Conversing
    working: Working
    answer: Answered | None = None
    """What the person answered: only for the node that proposed, when the run goes on."""


class NodeType:
    """One kind of node. Subclasses set the class attributes and write `run`.

    `run` yields any number of Delta and Reasoning and exactly one Result, the last, or a Proposal in its place. It
    raises for a failure; an error with `permanent = False` may be tried again when nothing was yielded before it.
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
