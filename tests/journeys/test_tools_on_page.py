"""What a page shows of the tools that a model calls."""

import json
from typing import Any

import pytest

from tests.doubles import Answer, ModelServer
from tests.factories import linear_definition, make_flow
from tests.journeys.conftest import OpenPage
from tests.journeys.test_chat_page import ended, say
from tests.people import Person

pytestmark = pytest.mark.browser


def calling(name: str, /, **arguments: Any) -> Answer:
    call = {"id": "call_1", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return Answer(text="", tool_calls=[call], finish_reason="tool_calls")


def test_a_page_says_what_was_looked_up_each_kind_once(open_page: OpenPage, bob: Person, model: ModelServer) -> None:
    definition = linear_definition()
    definition["nodes"][1]["config"]["tools"] = ["find_person", "search_memory"]
    page = open_page(bob, f"/flows/{make_flow(definition).pk}/")
    model.enqueue(
        calling("find_person", name="王"),
        calling("find_person", name="李"),
        calling("search_memory", query="北斗"),
        calling("made_up"),
        Answer("好了"),
    )
    say(page, "查一下")
    turn = ended(page)
    assert turn.locator("[data-tools] span").all_inner_texts() == ["查找了人员。", "搜索了您的记忆。"]
    assert "好了" in turn.locator("[data-output]").inner_text()
    page.reload()
    assert turn.locator("[data-tools]").is_hidden()
