"""The chat page as the server renders it."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from flows.models import Flow
from memory.models import Conversation, ForgetfulFlow, MemoryOwner, Turn, TurnStatus
from tests.factories import ConversationFactory, TurnFactory, linear_definition, make_flow
from tests.flows.pages.reading import page_data, shown_questions

pytestmark = pytest.mark.django_db


Counting = Callable[..., Any]


def test_a_flow_opens_with_its_latest_conversation(page: Client, user: User, session: Conversation) -> None:
    """F7"""
    older = ConversationFactory(user=user, flow_id=session.flow_id, last_active_at=timezone.now() - timedelta(days=1))
    TurnFactory(conversation=older, input="更早的问题")
    html = page.get(f"/flows/{session.flow_id}/").content.decode()
    assert page_data(html)["session"] == str(session.pk)
    assert shown_questions(html) == ["Q1", "Q2", "Q3"]
    assert page_data(page.get(f"/flows/{session.flow_id}/?new=1").content.decode())["session"] is None


def test_words_are_shown_as_words_and_answers_as_safe_markdown(page: Client, session: Conversation) -> None:
    """S1"""
    TurnFactory(
        conversation=session,
        input="<script>alert(1)</script>\n  第二行",
        output="**重点**\n\n<script>alert(2)</script> [x](javascript:alert(3))",
    )
    html = page.get(f"/flows/{session.flow_id}/").content.decode()
    assert "<p data-input>&lt;script&gt;alert(1)&lt;/script&gt;\n  第二行</p>" in html
    assert "<strong>重点</strong>" in html
    assert "&lt;script&gt;alert(2)" in html
    assert 'href="javascript' not in html


def test_a_title_cannot_break_out_of_the_pages_data(page: Client, user: User, assistant: Flow) -> None:
    ConversationFactory(user=user, flow_id=assistant.pk, title='</script><img src=x onerror="alert(1)">')
    html = page.get(f"/flows/{assistant.pk}/").content.decode()
    assert "<img" not in html
    assert page_data(html)["title"].startswith("</script>")


@pytest.mark.parametrize(
    ("status", "code", "line"),
    [
        (TurnStatus.STOPPED, "", "已停止，停下前写出的内容都保留着。"),
        (TurnStatus.INTERRUPTED, "", "回答被中断了。"),
        (TurnStatus.FAILED, "model_timeout", "模型用时太长。"),
    ],
)
def test_an_answer_that_did_not_end_by_itself_says_so_and_can_be_tried_again(
    page: Client, session: Conversation, status: str, code: str, line: str
) -> None:
    TurnFactory(conversation=session, status=status, error_code=code, output="写了一半")
    html = page.get(f"/flows/{session.flow_id}/").content.decode()
    assert f'data-status="{status}"' in html
    assert line in html
    assert "写了一半" in html


def test_an_answer_says_what_memory_it_had_to_do_without(page: Client, session: Conversation) -> None:
    """L3, M3: one calm line."""
    TurnFactory(conversation=session, memory_used={"missing": ["hot_copy", "a_new_code", "another"]})
    html = page.get(f"/flows/{session.flow_id}/").content.decode()
    assert html.count('class="note"') == 2
    assert "快速记忆暂时连不上" in html
    assert "部分记忆暂时连不上" in html


def test_a_page_opened_in_mid_answer_knows_the_turn_to_follow(page: Client, session: Conversation) -> None:
    """S3"""
    running = TurnFactory(conversation=session, status=TurnStatus.RUNNING, output="")
    html = page.get(f"/flows/{session.flow_id}/").content.decode()
    assert page_data(html)["running"] == str(running.pk)
    assert 'class="dot"' in html


def test_what_was_replaced_is_not_shown(page: Client, session: Conversation) -> None:
    """M6"""
    TurnFactory(conversation=session, status=TurnStatus.SUPERSEDED, input="改掉的问题")
    assert "改掉的问题" not in page.get(f"/flows/{session.flow_id}/").content.decode()


def test_a_long_conversation_comes_in_stretches(page: Client, session: Conversation) -> None:
    """S1: the newest turns with the page, older ones as one scrolls up, new ones of other pages on demand."""
    for _ in range(60):
        TurnFactory(conversation=session)
    address = f"/flows/{session.flow_id}/{session.pk}/"
    assert shown_questions(page.get(address).content.decode()) == [f"Q{n}" for n in range(44, 64)]
    first = Turn.objects.get(conversation=session, input="Q24").seq
    older = page.get(f"{address}?before={first}")
    assert re.findall(r"<p data-input>(.*?)</p>", older.content.decode()) == [f"Q{n}" for n in range(1, 24)]
    assert older["Tacit-Older"] == "0"
    assert page.get(f"{address}?before=127")["Tacit-Older"] == "1"
    newer = page.get(f"{address}?after={first}").content.decode()
    assert re.findall(r"<p data-input>(.*?)</p>", newer) == [f"Q{n}" for n in range(25, 64)]


@pytest.mark.parametrize(
    ("switches", "checked", "locked"),
    [
        ({}, "true", ""),
        ({"session": False}, "false", ""),
        ({"owner": False}, "false", "您已关闭所有流程的记忆。"),
        ({"flow": False}, "false", "这个流程不保留记忆。"),
        ({"here": False}, "false", "您已关闭这个流程的记忆。"),
    ],
)
def test_the_memory_switch_shows_what_holds_and_why(
    page: Client, user: User, switches: dict[str, bool], checked: str, locked: str
) -> None:
    """M11: each switch can only narrow."""
    flow = make_flow(linear_definition(memory=switches.get("flow", True)))
    MemoryOwner.objects.create(user=user, memory_enabled=switches.get("owner", True))
    ConversationFactory(user=user, flow_id=flow.pk, memory_enabled=switches.get("session", True))
    memory = switches.get("here", True)
    ForgetfulFlow.objects.all().switch(user, flow_id=flow.pk, flow_name=flow.name, memory=memory)
    switch = re.search(r'<button[^>]* role="switch"[^>]*>', page.get(f"/flows/{flow.pk}/").content.decode())
    assert switch
    assert f'aria-checked="{checked}"' in switch[0]
    assert ("disabled" in switch[0]) == bool(locked)
    assert locked in switch[0]


def test_clearing_memory_names_what_will_go(page: Client, session: Conversation) -> None:
    """M10"""
    erase = page_data(page.get(f"/flows/{session.flow_id}/").content.decode())["text"]["erase"]
    assert "{title}" in erase["session"]["text"]
    assert session.flow_name in erase["flow"]["text"]
    assert "全部对话" in erase["all"]["text"]


def test_what_an_answer_used_is_shown_on_demand(page: Client, session: Conversation) -> None:
    """M9"""
    budget = {"system": 55, "window": 1410, "words": 12, "limit": 32768}
    usage = {"prompt_tokens": 1480, "completion_tokens": 320}
    turn = TurnFactory(conversation=session, usage=usage, memory_used={"budget": budget})
    assert "1,800 tokens" in page.get(f"/flows/{session.flow_id}/").content.decode()
    detail = page.get(f"/flows/turns/{turn.pk}/").content.decode()
    for what, tokens in (("发给模型", "1,480"), ("更早的消息", "1,410"), ("模型的总容量", "32,768")):
        assert f"<dt>{what}</dt><dd>{tokens}</dd>" in detail


def test_a_page_takes_the_same_few_queries_however_long_the_history(
    page: Client, user: User, session: Conversation, django_assert_max_num_queries: Counting
) -> None:
    address = f"/flows/{session.flow_id}/{session.pk}/"
    page.get(address)
    for _ in range(20):
        other = ConversationFactory(user=user, flow_id=session.flow_id)
        TurnFactory(conversation=other, status=TurnStatus.RUNNING, output="")
        TurnFactory(conversation=session)
    with django_assert_max_num_queries(12):
        page.get(address)
    with django_assert_max_num_queries(8):
        page.get("/")
