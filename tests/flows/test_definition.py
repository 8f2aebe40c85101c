"""A flow as data (F1): parsed strictly, and every mistake has a place."""

from typing import Any

import pytest
from pydantic import ValidationError

from flows.definition import Definition
from flows.errors import InvalidDefinition
from tests.factories import linear_definition
from tests.flows.fakes import graph, node


def problems(data: Any) -> list[tuple[str | None, str | None, str]]:
    with pytest.raises(InvalidDefinition) as caught:
        Definition.parse(data)
    return [(problem.node_id, problem.field, problem.code) for problem in caught.value.problems]


def test_a_definition_survives_the_way_through_json() -> None:
    definition = Definition.parse(linear_definition(system="您是助手", memory=False))
    assert Definition.parse(definition.model_dump(mode="json")) == definition


def test_settings_that_are_left_out_have_the_usual_values() -> None:
    settings = Definition.parse(linear_definition()).settings
    assert (settings.memory, settings.memory_scope, settings.portrait, settings.rewrite_query) == (
        *(True, "user"),
        *(True, False),
    )


@pytest.mark.parametrize("data", [None, [], "{}", 3, {}, {"nodes": {}}, {"nodes": "x"}, {"nodes": [1]}])
def test_what_is_no_definition_is_refused(data: Any) -> None:
    assert problems(data)


def test_another_schema_version_is_refused_aloud() -> None:
    """An import from a later version must not be read wrongly in silence."""
    assert problems(linear_definition() | {"schema_version": 2}) == [(None, "schema_version", "literal_error")]


def test_a_misspelt_setting_is_a_mistake() -> None:
    assert problems(linear_definition(memroy=True)) == [(None, "settings.memroy", "extra_forbidden")]


def test_a_mistake_in_a_node_names_the_node() -> None:
    data = linear_definition()
    data["nodes"][1]["colour"] = "red"
    assert problems(data) == [("reply", "colour", "extra_forbidden")]


@pytest.mark.parametrize("name", ["", "1st", "a b", "a.b", "{{a}}", "回答", "a" * 61, "a\n"])
def test_an_id_is_what_a_reference_can_name(name: str) -> None:
    data = linear_definition()
    data["nodes"][1]["id"] = name
    assert problems(data) == [(name, "id", "string_pattern_mismatch")]


def test_a_parsed_definition_cannot_be_changed() -> None:
    """Versions are immutable and shared by every run of the process."""
    with pytest.raises(ValidationError):
        Definition.parse(linear_definition()).nodes[0].id = "other"


def test_the_nodes_that_feed_an_answer_are_found_through_its_template() -> None:
    """M13: these are given memory."""
    flow = graph(
        "start -> a -> b -> answer",
        a=node("llm"),
        b=node("llm", prompt="{{a.text}}"),
        answer=node("answer", text="{{start.input}}{{b.text}}{{gone.text}}"),
    )
    assert flow.answering == {"start", "b"}
