"""The node types that a flow can be made of, by name."""

from flows.nodes.answer import Answer
from flows.nodes.base import NodeType
from flows.nodes.llm import Llm
from flows.nodes.start import Start

NODE_TYPES: dict[str, NodeType] = {node.name: node for node in (Start(), Llm(), Answer())}
