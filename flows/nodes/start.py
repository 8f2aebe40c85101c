"""The start node: what the person said, and the inputs that came with it."""

from collections.abc import AsyncGenerator
from typing import Annotated, Any

from pydantic import StringConstraints

from flows.nodes.base import NodeCall, NodeConfig, NodeType, Output, Result

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w{0,59}$")]


class StartConfig(NodeConfig):
    inputs: tuple[Name, ...] = ()
    """Names of further inputs that a request may bring; one that it does not bring is empty."""


class Start(NodeType):
    """Gives `input`, the person's words byte for byte, and the inputs that its configuration names."""

    name = "start"
    fields = ("input",)
    config = StartConfig

    def fields_of(self, config: Any) -> tuple[str, ...]:
        return (*self.fields, *config.inputs)

    async def run(self, call: NodeCall) -> AsyncGenerator[Output, None]:
        yield Result({name: call.inputs.get(name, "") for name in self.fields_of(call.config)})
