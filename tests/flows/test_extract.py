"""The extract node (F2): values of a kind out of a text, nothing made up, dates by our own rules."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from flows.errors import AnswerUnusable
from flows.reading import Unreadable, flag, number, words
from flows.references import render
from llm.types import Chunk, Usage
from profiles.models import UserProfile
from tests.doubles import Answer, ModelServer
from tests.factories import make_flow
from tests.flows.fakes import graph, node
from tests.flows.nodes import USAGE, At, replies, result
from tests.flows.test_validation import mistakes
from tests.people import Person

FIELDS = [
    {"name": "title", "description": "要做的事", "required": True},
    {"name": "amount", "type": "number"},
    {"name": "due", "type": "date"},
    {"name": "urgent", "type": "boolean"},
]
SHANGHAI = At(datetime(2026, 11, 30, 10, 0, tzinfo=ZoneInfo("Asia/Shanghai")))


async def read(*answers: Any, fields: Any = FIELDS, said: str = "下周五前交季度报告") -> dict[str, Any]:
    return dict((await result("extract", replies(*answers), said=said, working=SHANGHAI, fields=fields)).fields)


async def test_each_value_comes_as_its_kind() -> None:
    answer = '{"title": "交季度报告", "amount": 3000, "due": "下周五前", "urgent": false}'
    assert await read(answer) == {"title": "交季度报告", "amount": 3000, "due": "2026-12-11 23:59", "urgent": False}


async def test_a_date_is_worked_out_by_our_rules_and_not_by_the_model() -> None:
    assert (await read('{"title": "x", "due": "明天下午三点"}'))["due"] == "2026-12-01 15:00"
    assert (await read('{"title": "x", "due": "2026-12-04 18:00"}'))["due"] == "2026-12-04 18:00"


async def test_what_the_text_does_not_say_is_nothing() -> None:
    nothing = {"title": "x", "amount": None, "due": None, "urgent": None}
    assert await read('{"title": "x", "amount": null, "due": "", "urgent": null}') == nothing
    assert await read('{"title": "x"}') == nothing
    assert render("<{{x.amount}}|{{x.due}}>", {"x": nothing}) == "<|>"


@pytest.mark.parametrize(
    "answer",
    [
        '```json\n{"title": "报告",}\n```',
        "好的：{title: '报告'}",
        '[{"title": "报告"}]',
        '想\n</think>{"title": "报告"}',
    ],
)
async def test_broken_json_is_mended(answer: str) -> None:
    assert (await read(answer))["title"] == "报告"


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("没有", "it is no JSON object"),
        ('{"title": null}', "title is missing"),
        ('{"title": "x", "amount": "三五个"}', "amount is not a number in digits, without its unit"),
        ('{"title": "x", "due": "抽空"}', "due is not the words of the text that say when"),
        ('{"title": "x", "urgent": "也许"}', "urgent is not true or false"),
        ('{"title": {"a": 1}}', "title is not text"),
    ],
)
async def test_what_is_wrong_is_told_and_asked_for_once_more(answer: str, problem: str) -> None:
    model = replies(answer, '{"title": "报告", "amount": 1}')
    given = await result("extract", model, working=SHANGHAI, fields=FIELDS)
    assert given.fields["title"] == "报告"
    assert given.usage == Usage(20, 10)
    assert model.asked[1][2].content == answer
    assert problem in model.asked[1][3].content


async def test_an_answer_that_was_cut_short_is_not_mended_but_asked_for_again() -> None:
    model = replies(Chunk(text='{"title": "报', usage=USAGE, finish_reason="length"), '{"title": "报告"}')
    assert (await result("extract", model, working=SHANGHAI, fields=FIELDS)).fields["title"] == "报告"
    assert "it was cut short" in model.asked[1][-1].content


async def test_twice_wrong_is_nothing_where_it_may_be_and_a_failure_where_it_must_not() -> None:
    assert (await read(*['{"title": "x", "amount": "许多"}'] * 2))["amount"] is None
    for answer in ("没有", '{"title": ""}'):
        with pytest.raises(AnswerUnusable):
            await read(answer, answer)


async def test_nothing_at_all_is_a_failure_even_when_nothing_is_required() -> None:
    with pytest.raises(AnswerUnusable):
        await read("没有", "没有", fields=[{"name": "title"}])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (3, 3), (3.0, 3), (2.5, 2.5), ("3", 3), ("3,000 元", 3000), ("１２", 12), ("-4", -4), ("1.5万", 15000),
        ("", None), (None, None), ("无", None), ("12345678901234567890", 12345678901234567890),
    ],
)  # fmt: skip
def test_numbers_as_models_write_them(given: Any, expected: Any) -> None:
    assert number(given) == expected
    assert type(number(given)) is type(expected)


@pytest.mark.parametrize("given", ["三", "3 到 5", True, {"n": 1}, float("nan"), float("inf")])
def test_what_is_no_number(given: Any) -> None:
    with pytest.raises(Unreadable):
        number(given)


def test_yes_and_no_and_texts_as_models_write_them() -> None:
    assert [flag(given) for given in (True, "是", "Yes.", 1, False, "否", "false", 0)] == [True] * 4 + [False] * 4
    assert [flag(given) for given in (None, "", "未提及")] == [None] * 3
    assert [words(given) for given in (" 报告 ", 7, ["甲", "乙"], [], "N/A")] == ["报告", "7", "甲, 乙", None, None]


def test_what_a_field_may_be_called() -> None:
    """F4."""

    def found(*fields: Any, text: str = "{{x.due}}") -> set[tuple[str | None, str]]:
        return mistakes("start -> x -> answer", x=node("extract", fields=fields), answer=node("answer", text=text))

    assert found({"name": "due", "type": "date"}) == set()
    assert found({"name": "截止"}, {"name": "due"}) == {("x", "string_pattern_mismatch")}
    assert found({"name": "due"}, {"name": "due"}) == {("x", "duplicate_name")}
    assert found({"name": "due", "type": "money"}) == {("x", "literal_error")}
    assert found(text="好") == {("x", "too_short")}
    assert found({"name": "title"}) == {("answer", "unknown_reference")}


def reading(text: str, *fields: Any) -> dict[str, Any]:
    return graph(
        "start -> x -> answer", x=node("extract", fields=fields), answer=node("answer", text=text)
    ).model_dump()


def test_a_flow_reads_in_the_zone_of_its_person(bob: Person, model: ModelServer) -> None:
    flow = make_flow(reading("{{x.when}}", {"name": "when", "type": "date", "required": True}))
    UserProfile.objects.filter(pk=bob.user.pk).update(time_zone="America/New_York")
    model.enqueue(Answer('{"when": "2030-01-05 17:00"}'))
    assert bob.says(flow, "就那天")["output"] == "2030-01-05 17:00"
    assert "<<<data\n[文本]\n就那天\ndata>>>" in model.chats[0].body["messages"][-1]["content"]


def test_without_a_model_the_text_itself_is_read(bob: Person) -> None:
    """S6: the whole text stands for a text, the first number for a number, and its date is ours to find."""
    flow = make_flow(
        reading(
            "{{x.title}}|{{x.count}}|{{x.due}}|{{x.urgent}}",
            {"name": "title"},
            {"name": "count", "type": "number"},
            {"name": "due", "type": "date"},
            {"name": "urgent", "type": "boolean"},
        )
    )
    words = "订 3 间会议室，2030-12-04 18:00 前"
    assert bob.says(flow, words)["output"] == f"{words}|3|2030-12-04 18:00|"
