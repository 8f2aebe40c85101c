"""The demo model (S6): says what it is, and shows a newcomer that memory, profile and knowledge reach the model."""

import json
from typing import Any

import pytest

import llm
from llm.demo_json import smallest
from llm.profile import OFFLINE
from llm.types import ChatRequest, Message
from memory.prompts import Block, fenced

MEMORY = Block("memory", "Relevant Memory:", "- 2026-01-15 (Summary: 项目 AB-1203 的截止日定在三月五日)")
PORTRAIT = Block("portrait", "[用户画像]", "姓名: 张三 | 职位: 技术主管 | 部门: 研发中心\n工作风格: 注重细节")
SUMMARY = Block("summary", "[历史对话摘要]", "用户在筹备发布会。供应商是华光公司。场地还没有定。")


def answer(*said: str, system: str = "", blocks: tuple[Block, ...] = ()) -> str:
    """What the demo model answers to the last of `said`, the earlier ones having been answered too."""
    *earlier, words = said
    messages = [Message("system", system)] if system else []
    for text in earlier:
        messages += [Message("user", text), Message("assistant", "好的。")]
    data = f"{fenced(blocks)}\n\n" if blocks else ""
    request = ChatRequest((*messages, Message("user", data + words)))
    return llm.complete(request, profile=OFFLINE).text


def test_it_says_that_it_is_the_demo_model_in_the_language_of_the_question() -> None:
    assert "演示模型" in answer("你好")
    assert "demo model" in answer("Good morning")


def test_a_fact_said_earlier_is_quoted_when_asked_for() -> None:
    text = answer("我的项目代号是北极星。", "今天天气不错", "项目代号是什么？")
    assert "您之前说过：\n\n- 「我的项目代号是北极星。」" in text
    assert "天气" not in text
    assert "2 条消息" in text
    assert "“My dog is called Rex”" in answer("My dog is called Rex", "What is my dog called?")


def test_an_earlier_question_is_not_quoted_as_a_fact() -> None:
    assert "「项目代号是什么" not in answer("我的项目代号是北极星", "项目代号是什么？", "项目代号是什么呢")


def test_of_a_long_message_only_the_sentence_that_matters_is_quoted() -> None:
    assert "「预算是四十万。」" in answer("先说背景，很长。" * 30 + "预算是四十万。" + "再说别的。" * 30, "预算多少？")


def test_memory_summary_and_profile_are_seen_at_work() -> None:
    blocks = (SUMMARY, MEMORY, PORTRAIT)
    assert "2026-01-15：「项目 AB-1203 的截止日定在三月五日」" in answer("ab-1203 什么时候截止？", blocks=blocks)
    assert "「供应商是华光公司。」" in answer("供应商是哪家？", blocks=blocks)
    assert answer("你好", blocks=blocks).startswith("张三，您好。")


def test_a_message_that_nothing_relates_to_still_shows_what_is_remembered() -> None:
    assert "最近一条是「我喜欢咖啡」" in answer("我喜欢咖啡", "明天开会")
    assert "第一条消息" in answer("明天开会")


def test_words_that_look_like_a_data_block_in_the_middle_stay_the_persons_words() -> None:
    assert "张三" not in answer("请看 <<<data\n姓名: 张三\ndata>>> 这一段")


@pytest.mark.parametrize(
    ("system", "words", "row"),
    [
        ("你负责写周报", "完成登录页；修复 3 个缺陷\n评审|设计", "| 3 | 评审\\|设计 |"),
        ("You write a weekly report", "Shipped login", "| 1 | Shipped login |"),
        ("翻译并润色", "你好，世界", "| 你好，世界 |"),
    ],
)
def test_a_report_and_a_translation_come_in_their_shape_and_say_that_they_are_a_demo(
    system: str, words: str, row: str
) -> None:
    text = answer(words, system=system)
    assert row in text
    assert "演示" in text or "demo" in text


def test_the_same_request_gets_the_same_answer() -> None:
    assert len({answer("我叫王小明", "我叫什么？") for _ in range(3)}) == 1


def test_an_answer_longer_than_its_limit_is_cut_and_says_so() -> None:
    completion = llm.complete(ChatRequest((Message("user", "你好"),), max_tokens=5), profile=OFFLINE)
    assert (completion.text, completion.finish_reason) == ("我是内置的", "length")


def test_a_schema_is_answered_with_the_smallest_json_that_fits_it() -> None:
    """So that flows which extract or classify run without a model."""
    schema: dict[str, Any] = {
        "type": "object",
        "$defs": {"Entity": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}},
        "required": ["title", "importance", "kind", "done", "entities", "words", "one", "note", "fixed"],
        "properties": {
            "title": {"type": "string"},
            "importance": {"type": "integer", "minimum": 1},
            "kind": {"enum": ["chat", "work"]},
            "done": {"type": "boolean"},
            "entities": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Entity"}},
            "words": {"type": "array", "items": {"type": "string"}},
            "one": {"anyOf": [{"$ref": "#/$defs/Entity"}, {"type": "null"}]},
            "note": {"type": ["string", "null"]},
            "fixed": {"const": 7},
            "optional": {"type": "string"},
        },
    }
    request = ChatRequest((Message("user", "提取"),), json_schema=schema)
    assert json.loads(llm.complete(request, profile=OFFLINE).text) == {
        "title": "",
        "importance": 1,
        "kind": "chat",
        "done": False,
        "entities": [{"name": ""}],
        "words": [],
        "one": {"name": ""},
        "note": "",
        "fixed": 7,
    }


def test_a_schema_that_refers_to_itself_ends() -> None:
    tree = {"type": "object", "required": ["child"], "properties": {"child": {"$ref": "#/$defs/Tree"}}}
    schema = {"$defs": {"Tree": tree}, "$ref": "#/$defs/Tree"}
    assert smallest(schema)["child"]
