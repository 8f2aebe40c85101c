"""What a tool is. A new one is one file in this folder that defines a `Tool` and is listed in `flows.tools.known`."""

from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, model_validator

from flows.nodes.base import NodeCall, Proposal
from llm.types import ToolSpec


class Arguments(BaseModel):
    """What a model gives with a call. Its JSON schema is told to the model; what else it gives is passed over."""

    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True, str_strip_whitespace=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nothing(cls, given: dict[str, Any]) -> dict[str, Any]:
        """Many models write null for what they leave out."""
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Given:
    """What a call gave, as the model is told it: data, never an instruction. Not `ok`: the call was of no use."""

    text: str
    ok: bool = True


class Tool:
    """One thing that a model may call. It reads, or it proposes: nothing is changed without the person's own click."""

    name: ClassVar[str]
    description: ClassVar[str]
    """Tells the model what the tool gives and when to call it."""
    arguments: ClassVar[type[Arguments]]

    def spec(self) -> ToolSpec:
        """The tool as it is offered to a model."""
        return ToolSpec(self.name, self.description, _plain(self.arguments.model_json_schema()))

    async def run(self, call: NodeCall, arguments: Any) -> Given | Proposal:
        """Answers one call with `arguments`, an instance of the class above. A Proposal pauses the run."""
        raise NotImplementedError


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with what a model needs of it, and nothing about how it is written here."""
    properties = {
        name: {key: value for key, value in part.items() if key in ("type", "description")}
        for name, part in schema.get("properties", {}).items()
    }
    return {"type": "object", "properties": properties, "required": schema.get("required", [])}
