"""References in templates (F3): replaced in one pass, never rescanned, never evaluated."""

from hypothesis import given
from hypothesis import strategies as st

from flows.references import Reference, parse, references, render

VALUES = {"start": {"input": "你好"}, "reply": {"text": "{{start.input}}", "empty": "", "number": 3, "none": None}}


def test_a_reference_becomes_the_value_of_its_node() -> None:
    assert render("问：{{start.input}}！", VALUES) == "问：你好！"


def test_blanks_inside_the_braces_do_not_matter() -> None:
    assert render("{{ start.input }}{{start.input }}", VALUES) == "你好你好"


def test_a_value_that_looks_like_a_reference_stays_text() -> None:
    """What a person types is data: it can reach no other value."""
    assert render("{{reply.text}}", VALUES) == "{{start.input}}"
    assert render("{{start.input}}", {"start": {"input": "{{reply.text}} {{a.b}} {{"}}) == "{{reply.text}} {{a.b}} {{"


def test_two_values_side_by_side_make_no_new_reference() -> None:
    values = {"a": {"x": "{{start."}, "start": {"input": "你好"}}
    assert render("{{a.x}}input}}", values) == "{{start.input}}"


def test_a_missing_value_is_empty_and_others_are_written_out() -> None:
    assert render("[{{gone.text}}{{reply.gone}}{{reply.none}}{{reply.empty}}] {{reply.number}}", VALUES) == "[] 3"


def test_what_is_no_reference_stays_as_it_is() -> None:
    for text in (
        "{{}}",
        "{{a}}",
        "{{a.}}",
        "{{.b}}",
        "{{1a.b}}",
        "{a.b}",
        "{{a.b",
        "{{a.b.c}}",
        "{{__import__('os')}}",
    ):
        assert render(text, {"a": {"b": "x"}}) == text


def test_references_are_found_however_deep_they_stand() -> None:
    config = {"system": "{{a.text}}", "rows": [{"cell": "x{{b.text}}"}, ("{{c.text}}",)], "n": 1, "off": None}
    assert list(references(config)) == [Reference("a", "text"), Reference("b", "text"), Reference("c", "text")]


@given(st.text())
def test_any_words_of_a_person_come_out_byte_for_byte(words: str) -> None:
    """M5."""
    assert render("{{start.input}}", {"start": {"input": words}}) == words


@given(st.lists(st.sampled_from(["{", "}", "{{", "}}", "a.b", "{{a.b}}", "中"])).map("".join))
def test_the_parts_of_a_template_joined_are_the_template(template: str) -> None:
    parts = parse(template)
    assert "" not in parts
    joined = (part if isinstance(part, str) else f"{{{{{part.node_id}.{part.field}}}}}" for part in parts)
    assert "".join(joined) == template
