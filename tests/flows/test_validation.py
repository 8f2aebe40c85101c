"""What a flow must be before it is published (F4). Each mistake names its node."""

from typing import Any

import pytest

from flows.errors import InvalidDefinition
from flows.shipped import read_all
from flows.validation import dominators, validate
from tests.factories import linear_definition
from tests.flows.fakes import graph, node

ANSWER = node("answer", text="好")


def mistakes(*paths: str, **nodes: Any) -> set[tuple[str | None, str]]:
    """The (node, code) of every mistake in a graph."""
    return mistakes_in(graph(*paths, **nodes).model_dump())


def mistakes_in(data: Any) -> set[tuple[str | None, str]]:
    try:
        validate(data)
    except InvalidDefinition as error:
        for problem in error.problems:
            assert str(problem.detail)
        return {(problem.node_id, problem.code) for problem in error.problems}
    return set()


@pytest.mark.parametrize("shipped", read_all(), ids=lambda data: data["slug"])
def test_every_shipped_flow_is_valid(shipped: dict[str, Any]) -> None:
    """F8."""
    assert mistakes_in(shipped["definition"]) == set()


def test_start_llm_answer_is_valid() -> None:
    assert mistakes_in(linear_definition()) == set()


def test_there_is_exactly_one_start() -> None:
    two = {"schema_version": 1, "nodes": [{"id": "a", "type": "start"}, {"id": "b", "type": "start"}]}
    assert mistakes_in(two) == {("b", "one_start")}
    assert mistakes_in({"nodes": [{"id": "a", **ANSWER}]}) == {(None, "one_start")}


def test_two_nodes_with_one_id_are_refused() -> None:
    data = linear_definition()
    data["nodes"].append({"id": "reply", "type": "llm"})
    assert mistakes_in(data) == {("reply", "duplicate_id")}


def test_an_unknown_type_and_an_edge_to_nowhere_are_refused() -> None:
    assert mistakes("start -> odd -> gone", odd=node("teleport")) == {("odd", "unknown_type"), ("gone", "unknown_node")}


def test_a_circle_is_refused_and_so_is_what_stands_behind_it() -> None:
    found = mistakes("start -> a -> b -> a", "b -> answer", a=node("llm"), b=node("llm"), answer=ANSWER)
    assert found >= {("a", "cycle"), ("b", "cycle"), ("answer", "cycle")}
    assert ("start", "cycle") not in found


def test_a_node_that_nothing_leads_to_is_refused() -> None:
    assert mistakes("start -> answer", "alone -> answer", alone=node("llm"), answer=ANSWER) == {("alone", "orphan")}


def test_a_path_that_ends_without_an_answer_is_refused() -> None:
    assert mistakes("start -> answer", "start -> a", a=node("llm"), answer=ANSWER) == {("a", "no_answer")}


@pytest.mark.usefixtures("fakes")
def test_every_branch_of_a_node_leads_on() -> None:
    """F4: an answer on every path."""
    assert mistakes("start -> fork -yes-> answer", fork=node("fork"), answer=ANSWER) == {("fork", "open_branch")}


@pytest.mark.usefixtures("fakes")
@pytest.mark.parametrize("way", ["->", "-maybe->"])
def test_an_edge_leaves_by_a_branch_that_there_is(way: str) -> None:
    paths = ("start -> fork -yes-> answer", "fork -no-> answer", f"fork {way} answer")
    assert mistakes(*paths, fork=node("fork"), answer=ANSWER) == {("fork", "unknown_branch")}


def test_a_node_that_may_fail_into_a_branch_needs_one_for_failure_and_one_for_success() -> None:
    branching = node("llm", on_error="branch")
    both = mistakes("start -> a -> answer", "a -error-> answer", a=branching, answer=ANSWER)
    assert both == set()
    assert mistakes("start -> a -> answer", a=branching, answer=ANSWER) == {("a", "open_branch")}
    assert mistakes("start -> a -error-> answer", a=branching, answer=ANSWER) == {("a", "open_branch")}
    assert mistakes("start -> a -> answer", "a -error-> answer", a=node("llm"), answer=ANSWER) == {
        ("a", "unknown_branch")
    }


@pytest.mark.usefixtures("fakes")
def test_a_default_in_place_of_a_failure_leaves_by_the_way_without_a_name() -> None:
    paths = ("start -> fork -yes-> answer", "fork -no-> answer")
    defaulting = node("fork", on_error="default")
    assert mistakes(*paths, fork=defaulting, answer=ANSWER) == {("fork", "open_branch")}
    assert mistakes(*paths, "fork -> answer", fork=defaulting, answer=ANSWER) == set()


def test_a_reference_names_a_value_that_there_is() -> None:
    for text in ("{{gone.text}}", "{{start.words}}", "{{answer.text}}"):
        code = "uncertain_reference" if "answer" in text else "unknown_reference"
        assert mistakes("start -> answer", answer=node("answer", text=text)) == {("answer", code)}


def test_an_input_that_the_start_names_may_be_referred_to() -> None:
    answer = node("answer", text="{{start.city}}")
    assert mistakes("start -> answer", start=node("start", inputs=["city"]), answer=answer) == set()


@pytest.mark.usefixtures("fakes")
def test_a_reference_to_a_node_of_another_branch_is_refused() -> None:
    """F4: references are dominated."""
    paths = ("start -> fork -yes-> yes -> join", "fork -no-> no -> join")
    nodes = {"fork": node("fork"), "yes": node("say"), "no": node("say")}
    assert mistakes(*paths, **nodes, join=node("answer", text="{{yes.text}}")) == {("join", "uncertain_reference")}
    assert mistakes(*paths, **nodes, join=node("answer", text="{{start.input}}")) == set()


def test_a_reference_to_a_parallel_node_is_refused() -> None:
    found = mistakes(
        "start -> a -> answer", "start -> b -> answer", a=node("llm"), b=node("llm", prompt="{{a.text}}"), answer=ANSWER
    )
    assert found == {("b", "uncertain_reference")}


def test_a_field_that_a_node_does_not_know_is_refused() -> None:
    assert mistakes("start -> a -> answer", a=node("llm", temprature=1), answer=ANSWER) == {("a", "extra_forbidden")}


@pytest.mark.parametrize(
    "config", [{"temperature": 3}, {"retries": 6}, {"timeout": 0}, {"on_error": "ignore"}, {"max_tokens": 0}]
)
def test_a_value_out_of_range_is_refused(config: dict[str, Any]) -> None:
    found = mistakes("start -> a -> answer", a=node("llm", **config), answer=node("answer", text="{{a.text}}"))
    assert [name for name, _ in found] == ["a"]


def test_every_mistake_is_told_at_once() -> None:
    found = mistakes("start -> a -> answer", "start -> b", a=node("llm", x=1), b=node("llm"), answer=node("answer"))
    assert found == {("a", "extra_forbidden"), ("b", "no_answer"), ("answer", "missing")}


def test_the_nodes_that_have_surely_run_are_those_on_every_path() -> None:
    flow = graph("start -> a -> c -> d", "start -> b -> c", a=ANSWER, b=ANSWER, c=ANSWER, d=ANSWER)
    assert dominators(flow) == {
        "start": set(),
        "a": {"start"},
        "b": {"start"},
        "c": {"start"},
        "d": {"start", "c"},
    }
