"""What must hold before a flow is published; the same in the builder, the API and an import."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from pydantic import ValidationError

from flows.definition import Definition
from flows.errors import InvalidDefinition, Problem
from flows.execution import ERROR_BRANCH
from flows.nodes import NODE_TYPES
from flows.nodes.base import NodeConfig


def validate(data: Any) -> Definition:
    """The parsed definition. Raises InvalidDefinition with every mistake found, each naming its node."""
    definition = Definition.parse(data)
    problems = list(_shape(definition))
    if not problems:
        configs, problems = _configs(definition)
        problems += [*_paths(definition), *_branches(definition, configs), *_references(definition, configs)]
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


def _configs(definition: Definition) -> tuple[dict[str, NodeConfig], list[Problem]]:
    """The configurations that can be read, by node, and what is wrong with the others."""
    configs: dict[str, NodeConfig] = {}
    problems: list[Problem] = []
    for node in definition.nodes:
        try:
            configs[node.id] = NODE_TYPES[node.type].config.model_validate(node.config)
        except ValidationError as error:
            for mistake in error.errors():
                field = ".".join(map(str, mistake["loc"])) or None
                problems.append(Problem(node.id, field, mistake["type"], mistake["msg"]))
    return configs, problems


def _paths(definition: Definition) -> Iterator[Problem]:
    """No cycle, no node that the start does not reach, nothing but an answer at the end of a path."""
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


def _branches(definition: Definition, configs: Mapping[str, NodeConfig]) -> Iterator[Problem]:
    """Every branch that a node may take leads on, and every edge leaves by a branch that there is."""
    for node in definition.nodes:
        used = {edge.branch for edge in definition.edges_out_of(node.id)}
        if node.id not in configs or not used:
            continue
        there_are = set(_branches_of(node.type, configs[node.id]))
        for branch in sorted(there_are - used, key=str):
            yield Problem(node.id, None, "open_branch", _("Nothing follows at the {way}.").format(way=_way(branch)))
        for branch in sorted(used - there_are, key=str):
            yield Problem(node.id, None, "unknown_branch", _("This node has no {way}.").format(way=_way(branch)))


def _way(branch: str | None) -> str:
    return _("way out without a name") if branch is None else _("way out “{branch}”").format(branch=branch)


def _branches_of(type_name: str, config: NodeConfig) -> Iterator[str | None]:
    yield from NODE_TYPES[type_name].branches_of(config)
    if config.on_error == "branch":
        yield ERROR_BRANCH
    elif config.on_error == "default":
        yield None


def _references(definition: Definition, configs: Mapping[str, NodeConfig]) -> Iterator[Problem]:
    """A reference must name a field of a node that has surely run."""
    certain = dominators(definition)
    fields = {node_id: _fields(definition, node_id, config) for node_id, config in configs.items()}
    for node in definition.nodes:
        for reference in definition.references_of(node):
            name = f"{reference.node_id}.{reference.field}"
            if reference.node_id in definition.by_id and reference.node_id not in configs:
                continue  # its fields are not known until its configuration is mended
            if reference.field not in fields.get(reference.node_id, ()):
                yield Problem(node.id, None, "unknown_reference", _("There is no value {name}.").format(name=name))
            elif reference.node_id not in certain.get(node.id, set()):
                yield Problem(
                    node.id,
                    None,
                    "uncertain_reference",
                    _("{name} may not have a value when this node runs.").format(name=name),
                )


def _fields(definition: Definition, node_id: str, config: NodeConfig) -> tuple[str, ...]:
    return NODE_TYPES[definition.by_id[node_id].type].fields_of(config)


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
