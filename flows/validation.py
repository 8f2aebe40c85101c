"""What must hold before a flow is published; the same in the builder, the API and an import."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _
from pydantic import ValidationError

from flows.definition import Definition, Node
from flows.errors import InvalidDefinition, Problem
from flows.nodes import NODE_TYPES


def validate(data: Any) -> Definition:
    """The parsed definition. Raises InvalidDefinition with every mistake found, each naming its node."""
    definition = Definition.parse(data)
    problems = list(_shape(definition)) or [
        *_configs(definition),
        *_paths(definition),
        *_references(definition),
    ]
    if problems:
        raise InvalidDefinition(problems)
    return definition


def _shape(definition: Definition) -> Iterator[Problem]:
    """Mistakes after which nothing else can be judged."""
    seen: set[str] = set()
    for node in definition.nodes:
        if node.id in seen:
            yield Problem(node.id, "id", "duplicate_id", _("Two nodes have this id. Give each its own."))
        seen.add(node.id)
        if node.type not in NODE_TYPES:
            yield Problem(node.id, "type", "unknown_type", _("There is no such type of node."))
    for edge in definition.edges:
        for end in (edge.source, edge.target):
            if end not in seen:
                yield Problem(end, None, "unknown_node", _("An edge leads to a node that does not exist."))
    starts = [node for node in definition.nodes if node.type == "start"]
    if len(starts) != 1:
        node_id = starts[1].id if starts else None
        yield Problem(node_id, None, "one_start", _("A flow needs exactly one start node."))


def _configs(definition: Definition) -> Iterator[Problem]:
    for node in definition.nodes:
        try:
            NODE_TYPES[node.type].config.model_validate(node.config)
        except ValidationError as error:
            for mistake in error.errors():
                field = ".".join(map(str, mistake["loc"])) or None
                yield Problem(node.id, field, mistake["type"], mistake["msg"])


def _paths(definition: Definition) -> Iterator[Problem]:
    """No cycle, no node that the start does not reach, an answer at the end of every path."""
    order = topological(definition)
    if len(order) < len(definition.nodes):
        for node in definition.nodes:
            if node.id not in order:
                yield Problem(node.id, None, "cycle", _("The node is part of a circle, or behind one."))
        return
    for node in definition.nodes:
        if node.type != "start" and not definition.edges_into(node.id):
            yield Problem(node.id, None, "orphan", _("Nothing leads to this node. Connect it or delete it."))
        if node.type != "answer" and not definition.edges_out_of(node.id):
            yield Problem(node.id, None, "no_answer", _("This path ends without an answer node."))


def _references(definition: Definition) -> Iterator[Problem]:
    """A reference must name a field of a node that has surely run."""
    certain = dominators(definition)
    for node in definition.nodes:
        for reference in definition.references_of(node):
            source = definition.by_id.get(reference.node_id)
            name = f"{reference.node_id}.{reference.field}"
            if source is None or reference.field not in _fields(source):
                yield Problem(node.id, None, "unknown_reference", _("There is no value {name}.").format(name=name))
            elif source.id not in certain.get(node.id, set()):
                yield Problem(
                    node.id,
                    None,
                    "uncertain_reference",
                    _("{name} may not have a value when this node runs.").format(name=name),
                )


def _fields(node: Node) -> tuple[str, ...]:
    return NODE_TYPES[node.type].fields


def topological(definition: Definition) -> list[str]:
    """Node ids in an order in which every edge points forward; nodes on or behind a cycle are left out."""
    into = {node.id: len(definition.edges_into(node.id)) for node in definition.nodes}
    ready = [node_id for node_id, count in into.items() if not count]
    order: list[str] = []
    while ready:
        node_id = ready.pop(0)
        order.append(node_id)
        for edge in definition.edges_out_of(node_id):
            into[edge.target] -= 1
            if not into[edge.target]:
                ready.append(edge.target)
    return order


def dominators(definition: Definition) -> dict[str, set[str]]:
    """For each node the nodes that every path to it passes through, itself left out."""
    certain: dict[str, set[str]] = {}
    for node_id in topological(definition):
        sources = [edge.source for edge in definition.edges_into(node_id)]
        ways = [certain[source] | {source} for source in sources]
        certain[node_id] = set.intersection(*ways) if ways else set()
    return certain
