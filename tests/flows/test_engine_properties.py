"""What holds for the engine whatever the flow: random graphs that pass validation, run to their end (F3, F4)."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flows.definition import Definition
from flows.nodes.base import NodeType
from flows.steps import NodeFinished, NodeStarted
from flows.validation import dominators, topological, validate
from tests.flows.fakes import finished, output, started, walked

AnyDraw = Any
WAYS = {"say": [None], "fork": ["yes", "no"], "failing": [None, "error"], "start": [None]}


@st.composite
def definitions(draw: AnyDraw) -> Definition:
    """A valid flow of up to eight nodes that say, fork or fail, with an answer wherever a way out is open."""
    nodes: list[dict[str, Any]] = [{"id": "start", "type": "start"}]
    ways: list[tuple[str, str | None]] = [("start", None)]
    edges: list[tuple[str, str | None, str]] = []
    for number in range(draw(st.integers(0, 8))):
        kind, name = draw(st.sampled_from(["say", "say", "fork", "failing"])), f"n{number}"
        nodes.append({"id": name, "type": "fork" if kind == "fork" else "say", "config": draw(_config(kind, name))})
        edges += [(*way, name) for way in draw(st.lists(st.sampled_from(ways), min_size=1, max_size=2, unique=True))]
        ways += [(name, branch) for branch in WAYS[kind]]
    taken = {(source, branch) for source, branch, _ in edges}
    answers: list[str] = []
    for way in ways:
        if way not in taken or draw(st.integers(0, 3)) == 0:
            if not answers or draw(st.integers(0, 3)):
                answers.append(f"a{len(answers)}")
            edges.append((*way, draw(st.sampled_from(answers))))
    answers = [name for name in answers if any(target == name for _, _, target in edges)]
    nodes += [{"id": name, "type": "answer", "config": {"text": f"<{name}>"}} for name in answers]
    graph = {
        "nodes": nodes,
        "edges": [
            {"source": source, "branch": branch, "target": target} for source, branch, target in dict.fromkeys(edges)
        ],
    }
    return validate(_with_references(draw, graph))


def _config(kind: str, name: str) -> st.SearchStrategy[dict[str, Any]]:
    if kind == "fork":
        return st.fixed_dictionaries({"take": st.sampled_from(["yes", "no"])})
    pieces = st.lists(st.sampled_from([f"{name}甲", f"{name}乙", ""]), min_size=1, max_size=5)
    if kind == "failing":
        return st.fixed_dictionaries({"failure": st.sampled_from(["", "passing"]), "on_error": st.just("branch")})
    return st.fixed_dictionaries({"pieces": pieces, "yields": st.integers(0, 3)})


def _with_references(draw: AnyDraw, graph: dict[str, Any]) -> dict[str, Any]:
    """Lets each answer say what a node before it said: the one right before it, if that says something."""
    certain = dominators(Definition.parse(graph))
    saying = {node["id"] for node in graph["nodes"] if node["type"] == "say"}
    for node in graph["nodes"]:
        sources = {edge["source"] for edge in graph["edges"] if edge["target"] == node["id"]}
        before = certain[node["id"]] & saying
        if node["type"] == "answer" and before:
            source = draw(st.sampled_from(sorted(before & sources or before)))
            node["config"]["text"] += f"{{{{{source}.text}}}}。"
    return graph


def expected(definition: Definition) -> set[str]:
    """The nodes that have to run, worked out in topological order without any concurrency."""
    live: set[str] = set()
    branch: dict[str, str | None] = {}
    for node_id in topological(definition):
        into = definition.edges_into(node_id)
        if not into or any(edge.source in live and edge.branch == branch[edge.source] for edge in into):
            live.add(node_id)
        config = definition.by_id[node_id].config
        branch[node_id] = config.get("take") or ("error" if config.get("failure") else None)
    return live


@pytest.mark.usefixtures("fakes")
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(definition=definitions())
def test_every_flow_runs_exactly_its_live_nodes_once_and_reaches_an_answer(definition: Definition) -> None:
    """F3: nothing fires twice, nothing waits for ever, what is not live never runs."""
    steps = asyncio.run(walked(definition))
    ran = started(steps)
    assert len(ran) == len(set(ran))
    assert set(ran) == set(finished(steps)) == expected(definition)
    assert any(definition.by_id[name].type == "answer" for name in ran)
    for step in steps:
        if isinstance(step, NodeStarted):
            before = {edge.source for edge in definition.edges_into(step.node_id)} & set(ran)
            ended = [other.node_id for other in steps[: steps.index(step)] if isinstance(other, NodeFinished)]
            assert before <= set(ended)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(definition=definitions())
def test_the_joined_pieces_are_the_texts_of_the_answers_reached(
    fakes: Mapping[str, NodeType], definition: Definition
) -> None:
    """S2: every answer reached is heard whole, once, and none is mixed with another."""
    steps = asyncio.run(walked(definition))
    ran = set(started(steps))
    texts = {}
    for node in definition.nodes:
        if node.id in ran and node.type == "answer":
            text = node.config["text"]
            for other in definition.nodes:
                said = "".join(other.config.get("pieces", ())) if not other.config.get("failure") else ""
                text = text.replace(f"{{{{{other.id}.text}}}}", said)
            texts[node.id] = text
    said = output(steps)
    spoken = sorted(texts, key=lambda name: said.find(f"<{name}>"))
    assert said == "\n\n".join(texts[name] for name in spoken)
