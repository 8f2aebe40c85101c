"""A flow as data: nodes, edges and settings, parsed from the JSON that is stored and exchanged."""

from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from flows.errors import InvalidDefinition, Problem
from flows.references import Reference, references

SCHEMA_VERSION: Literal[1] = 1


class Part(BaseModel):
    """Strict and immutable: an unknown field is a mistake, not a wish."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Settings(Part):
    """What a flow asks of memory."""

    memory: bool = True
    memory_scope: Literal["user", "flow"] = "user"
    portrait: bool = True
    rewrite_query: bool = False
    knowledge_bases: tuple[int, ...] = ()


class Node(Part):
    """One step. `config` is read by the node's type; `x` and `y` place it on the canvas."""

    id: str = Field(pattern=r"^[A-Za-z][\w-]{0,59}$")
    type: str
    title: str = ""
    config: dict[str, Any] = Field(default_factory=dict)
    x: float = 0
    y: float = 0


class Edge(Part):
    """From a node to the next; `branch` names the way out of a node that has several."""

    id: str = ""
    source: str
    target: str
    branch: str | None = None


class Definition(Part):
    """A whole flow. `Definition.parse` reads stored JSON."""

    schema_version: Literal[1] = SCHEMA_VERSION
    settings: Settings = Settings()
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()

    @classmethod
    def parse(cls, data: Any) -> "Definition":
        """Reads a definition; raises InvalidDefinition with the place of each mistake."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise InvalidDefinition([_problem(data, mistake) for mistake in error.errors()]) from error

    @cached_property
    def by_id(self) -> dict[str, Node]:
        return {node.id: node for node in self.nodes}

    def edges_into(self, node_id: str) -> list[Edge]:
        return [edge for edge in self.edges if edge.target == node_id]

    def edges_out_of(self, node_id: str) -> list[Edge]:
        return [edge for edge in self.edges if edge.source == node_id]

    @cached_property
    def answering(self) -> frozenset[str]:
        """The nodes whose values reach an answer, directly or through nodes that only compose text."""
        feeding: set[str] = set()
        waiting = [node for node in self.nodes if node.type == "answer"]
        while waiting:
            node = waiting.pop()
            for reference in references(node.config):
                source = self.by_id.get(reference.node_id)
                if source is None or source.id in feeding:
                    continue
                feeding.add(source.id)
                if source.type == "template":
                    waiting.append(source)
        return frozenset(feeding)

    def references_of(self, node: Node) -> list[Reference]:
        return list(references(node.config))


def _problem(data: Any, mistake: Any) -> Problem:
    """A pydantic mistake as ours: the node's id where the place lies in a node."""
    place = list(mistake["loc"])
    node_id = None
    if len(place) > 1 and place[0] == "nodes" and isinstance(place[1], int):
        node = data["nodes"][place[1]]
        node_id = node.get("id") if isinstance(node, dict) else None
        place = place[2:]
    return Problem(node_id, ".".join(map(str, place)) or None, mistake["type"], mistake["msg"])
