"""The values that cross the seam: what a model is asked and what it answers. Plain data, no behaviour."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that the model may call; `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asks for. `arguments` is JSON as the model wrote it: check it before use."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `tool_calls` and `reasoning` belong to the assistant's, `tool_call_id` to a tool's."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What to ask, whichever model answers.

    `max_tokens` caps the answer, thinking included; the profile's own cap holds as well. `thinking` switches
    thinking on or off where the model has a switch; None leaves it to the model. `json_schema` asks for an
    answer in that shape: an endpoint that cannot constrain its output ignores it, so the prompt asks too.
    """

    messages: tuple[Message, ...]
    temperature: float | None = None
    max_tokens: int | None = None
    tools: tuple[ToolSpec, ...] = ()
    thinking: bool | None = None
    json_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. `estimated` when the endpoint counted none and we did."""

    prompt_tokens: int
    completion_tokens: int
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of an answer.

    Pieces carry `text` or `reasoning`. The last one carries `usage`, `finish_reason`, `model` (which may be
    the fallback's) and the `tool_calls`, complete.
    """

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    finish_reason: str | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole answer. `finish_reason` is the endpoint's word: stop, length, tool_calls, content_filter."""

    text: str
    reasoning: str
    tool_calls: tuple[ToolCall, ...]
    usage: Usage
    finish_reason: str
    model: str
