"""The node types that a flow can be made of, by name."""

from flows.nodes.answer import Answer
from flows.nodes.assign_work import AssignWork
from flows.nodes.base import NodeType
from flows.nodes.classify import Classify
from flows.nodes.extract import Extract
from flows.nodes.find_person import FindPerson
from flows.nodes.llm import Llm
from flows.nodes.start import Start

NODE_TYPES: dict[str, NodeType] = {
    node.name: node for node in (Start(), Llm(), Classify(), Extract(), FindPerson(), AssignWork(), Answer())
}
