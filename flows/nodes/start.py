"""The start node: what the person said, and the inputs that came with it."""

from collections.abc import AsyncGenerator

from flows.nodes.base import NodeCall, NodeType, Output, Result


class Start(NodeType):
    """Gives `input`, the person's words byte for byte, and any named input of the request."""

    name = "start"
    fields = ("input",)

    async def run(self, call: NodeCall) -> AsyncGenerator[Output, None]:
        yield Result(dict(call.inputs))
