"""The chat page as a person uses it: a real browser, the running product, a scripted model."""

import re
import threading

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from flows.models import Flow
from memory.models import Conversation, Turn, TurnStatus
from tests.doubles import Answer, ModelServer
from tests.factories import ConversationFactory, TurnFactory
from tests.journeys.conftest import OpenPage
from tests.people import Person

pytestmark = pytest.mark.browser

RICH = "第一段，**重点**。\n\n- 一\n- 二\n\n| 甲 | 乙 |\n|---|--:|\n| 1 | 2 |\n\n```python\nx = 1\n\ny = 2\n```\n\n完。"


def say(page: Page, words: str) -> None:
    page.get_by_label("您的消息").fill(words)
    page.get_by_label("您的消息").press("Enter")


def last_turn(page: Page) -> Locator:
    return page.locator(".turn").last


def ended(page: Page, status: str = "complete") -> Locator:
    """The last turn, once it has ended like this."""
    expect(last_turn(page)).to_have_attribute("data-status", status)
    return last_turn(page)


def from_menu(page: Page, item: str) -> None:
    page.get_by_label("更多", exact=True).click()
    page.get_by_role("button", name=item).click()


def test_a_conversation_is_there_after_a_reload_goes_on_and_can_be_cleared(
    open_page: OpenPage, bob: Person, flow: Flow, model: ModelServer
) -> None:
    """M6, M10, S1: the main journey."""
    page = open_page(bob, f"/flows/{flow.pk}/")
    model.enqueue(Answer("记下了。"), Answer("是北极星。"))
    say(page, "项目代号是北极星")
    expect(ended(page)).to_contain_text("记下了。")
    assert re.search(rf"/flows/{flow.pk}/[0-9a-f-]{{36}}/$", page.url)
    page.reload()
    expect(page.locator(".turn")).to_have_count(1)
    say(page, "代号是什么")
    expect(ended(page)).to_contain_text("是北极星。")
    sent = [message["content"] for message in model.chats[-1].body["messages"]]
    assert "项目代号是北极星" in sent
    from_menu(page, "这次对话…")
    expect(page.get_by_role("dialog")).to_contain_text("“项目代号是北极星”会删除，连同全部消息、摘要和从中记住的内容")
    page.get_by_role("button", name="清空", exact=True).click()
    expect(page.locator(".turn")).to_have_count(0)
    assert not Conversation.objects.exists()


def test_an_answer_is_shown_while_it_is_written_and_whole_after_a_reload_in_its_middle(
    open_page: OpenPage, bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """S1, S3: finished blocks are rendered, the rest stands behind them as text."""
    pieces = [RICH[place : place + 3] for place in range(0, len(RICH), 3)]
    model.enqueue(Answer(pieces, hold=gate, hold_after=len(pieces) - 3))
    page = open_page(bob, f"/flows/{flow.pk}/")
    say(page, "慢慢说")
    for _ in range(2):
        expect(last_turn(page).locator("strong")).to_have_text("重点")
        expect(last_turn(page).locator(".tail")).to_contain_text("y = 2")
        expect(page.get_by_label("停止")).to_be_visible()
        page.reload()
    gate.set()
    expect(ended(page).locator(".prose pre")).to_have_text("x = 1\n\ny = 2\n")
    arrived = last_turn(page).locator(".prose").inner_html()
    page.reload()
    assert last_turn(page).locator(".prose").inner_html() == arrived


def test_a_stopped_answer_keeps_its_text_and_can_be_tried_again(
    open_page: OpenPage, bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """M6, S1"""
    model.enqueue(Answer(["写了", "一半", "没写完"], hold=gate, hold_after=2), Answer("这次写完了。"))
    page = open_page(bob, f"/flows/{flow.pk}/")
    say(page, "写")
    expect(last_turn(page)).to_contain_text("写了一半")
    page.get_by_label("停止").click()
    expect(ended(page, "stopped")).to_contain_text("已停止")
    expect(last_turn(page)).to_contain_text("写了一半")
    page.get_by_role("button", name="再试一次").click()
    expect(ended(page)).to_contain_text("这次写完了。")
    expect(page.locator(".turn")).to_have_count(1)


def test_a_failed_answer_says_in_one_line_what_to_do(
    open_page: OpenPage, bob: Person, flow: Flow, model: ModelServer
) -> None:
    model.enqueue(Answer(status=401))
    page = open_page(bob, f"/flows/{flow.pk}/")
    say(page, "写")
    expect(ended(page, "failed").locator(".note")).to_have_text("模型没有设置好。请管理员检查地址、密钥和模型名称。")
    expect(page.get_by_role("button", name="再试一次")).to_be_visible()


def test_a_second_tab_is_attached_to_the_running_answer_and_keeps_its_words(
    open_page: OpenPage, bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """M7: a refused start loses nothing."""
    model.enqueue(Answer("开始。"), Answer(["还在", "写", "。"], hold=gate, hold_after=2))
    first = open_page(bob, f"/flows/{flow.pk}/")
    say(first, "第一问")
    ended(first)
    second = first.context.new_page()
    # Without notices a tab learns of the other's turn only when it is refused.
    second.route_web_socket(re.compile("/ws/me/"), lambda _line: None)
    second.goto(first.url)
    say(first, "第二问")
    expect(last_turn(first)).to_contain_text("还在写")
    say(second, "我也要问")
    expect(second.get_by_role("status").filter(has_text="您写的话留在输入框里")).to_be_visible()
    expect(second.get_by_label("您的消息")).to_have_value("我也要问")
    expect(last_turn(second)).to_contain_text("还在写")
    gate.set()
    expect(ended(second)).to_contain_text("还在写。")
    assert Turn.objects.count() == 2


def test_enter_that_chooses_a_candidate_of_an_input_method_does_not_send(
    open_page: OpenPage, bob: Person, flow: Flow, model: ModelServer
) -> None:
    """S1"""
    page = open_page(bob, f"/flows/{flow.pk}/")
    keyboard = page.context.new_cdp_session(page)
    page.get_by_label("您的消息").focus()
    keyboard.send("Input.imeSetComposition", {"text": "ni'hao", "selectionStart": 6, "selectionEnd": 6})
    page.keyboard.press("Enter")
    expect(page.locator(".turn")).to_have_count(0)
    keyboard.send("Input.insertText", {"text": "你好"})
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("second line")
    page.keyboard.press("Enter")
    ended(page)
    assert Turn.objects.get().input.strip() == "你好\nsecond line"


def test_the_last_question_is_edited_in_place(open_page: OpenPage, bob: Person, flow: Flow, model: ModelServer) -> None:
    """M6, S1: the edited turn replaces the old one, on the page and in what the model is sent."""
    page = open_page(bob, f"/flows/{flow.pk}/")
    say(page, "打错的问提")
    ended(page)
    page.get_by_label("您的消息").press("ArrowUp")
    expect(page.get_by_text("正在修改您的上一个问题")).to_be_visible()
    say(page, "改好的问题")
    expect(last_turn(page)).to_contain_text("改好的问题")
    ended(page)
    expect(page.locator(".turn")).to_have_count(1)
    assert Turn.objects.filter(status=TurnStatus.SUPERSEDED).count() == 1
    assert "打错的问提" not in str(model.chats[-1].body["messages"])


def test_memory_switched_off_before_the_first_message_stays_off(
    open_page: OpenPage, bob: Person, flow: Flow, model: ModelServer
) -> None:
    """M11"""
    page = open_page(bob, f"/flows/{flow.pk}/")
    page.get_by_role("switch").click()
    with page.expect_response(lambda response: response.request.method == "PATCH"):
        say(page, "别记住")
    ended(page)
    assert not Turn.objects.get().memory_enabled
    assert not Conversation.objects.get().memory_enabled
    page.reload()
    expect(page.get_by_role("switch")).not_to_be_checked()


def test_words_that_were_not_sent_are_there_after_a_reload(open_page: OpenPage, bob: Person, flow: Flow) -> None:
    page = open_page(bob, f"/flows/{flow.pk}/")
    page.get_by_label("您的消息").fill("还没想好")
    page.reload()
    expect(page.get_by_label("您的消息")).to_have_value("还没想好")


def test_a_page_that_lost_its_connection_catches_up_by_itself(
    open_page: OpenPage, bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """S3: what was written meanwhile arrives when the page is back."""
    lines: list[WebSocketRoute] = []

    def connected(line: WebSocketRoute) -> None:
        line.connect_to_server()
        lines.append(line)

    model.enqueue(Answer(["一", "二", "三"], hold=gate, hold_after=2))
    page = open_page(bob, f"/flows/{flow.pk}/")
    page.route_web_socket(re.compile("/ws/flows/"), connected)
    page.reload()
    say(page, "数数")
    expect(last_turn(page)).to_contain_text("一二")
    lines[-1].close()
    gate.set()
    expect(ended(page).locator(".prose")).to_have_text("一二三\n")
    assert len(lines) > 1


def test_another_page_shows_what_is_said_here_as_it_is_said(
    open_page: OpenPage, bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """S3, S8: the same session in two windows; a third, elsewhere, sees that an answer runs."""
    model.enqueue(Answer("开始。"), Answer(["还在", "写", "。"], hold=gate, hold_after=2))
    here = open_page(bob, f"/flows/{flow.pk}/")
    say(here, "第一问")
    ended(here)
    there, elsewhere = open_page(bob, here.url), open_page(bob, "/")
    say(here, "第二问")
    expect(last_turn(there)).to_contain_text("还在写")
    expect(elsewhere.get_by_label("正在回答")).to_be_visible()
    gate.set()
    expect(ended(there)).to_contain_text("还在写。")
    expect(elsewhere.get_by_label("正在回答")).to_have_count(0)


@pytest.mark.parametrize("scope", ["这次对话…", "这个流程…", "全部…"])
def test_erasing_on_one_page_clears_the_others(
    open_page: OpenPage, bob: Person, flow: Flow, model: ModelServer, scope: str
) -> None:
    """M10, S8: an open conversation shows the empty state with one calm line, lists lose it, and one can go on."""
    page = open_page(bob, f"/flows/{flow.pk}/")
    say(page, "金丝雀")
    ended(page)
    there, start = open_page(bob, page.url), open_page(bob, "/")
    there.get_by_label("您的消息").fill("没发出的话")
    expect(start.locator(".recent a")).to_have_count(1)
    from_menu(page, scope)
    page.get_by_role("button", name="清空", exact=True).click()
    expect(there.get_by_text("这次对话已被清除。")).to_be_visible()
    expect(there.locator(".welcome")).to_be_visible()
    for other in (there, start):
        expect(other.locator("body")).not_to_contain_text("金丝雀")
        expect(other.locator(".session")).to_have_count(0)
    expect(there).to_have_title(f"{flow.name} · 默契")
    expect(there.get_by_label("您的消息")).to_have_value("没发出的话")
    say(there, "重新开始")
    expect(ended(there)).to_contain_text("重新开始")
    assert Turn.objects.get().input == "重新开始"


def test_an_answer_erased_while_it_is_written_ends_with_words_that_say_so(
    open_page: OpenPage, bob: Person, flow: Flow, model: ModelServer, gate: threading.Event
) -> None:
    """M10: nothing is said to be kept, with notices or without them."""
    for hears_notices in (True, False):
        model.enqueue(Answer(["写了", "一半", "没写完"], hold=gate, hold_after=2))
        page = open_page(bob, f"/flows/{flow.pk}/?new=1")
        if not hears_notices:
            page.route_web_socket(re.compile("/ws/me/"), lambda _line: None)
            page.reload()
        say(page, "写")
        expect(last_turn(page)).to_contain_text("写了一半")
        bob.api.post("/api/memory/erase", json={"scope": "all"})
        expect(page.get_by_role("status").filter(has_text="这次对话已被清除。")).to_be_visible()
        expect(page.locator(".turn")).to_have_count(0)
        expect(page.get_by_label("停止")).to_be_hidden()
        expect(page.locator("main")).not_to_contain_text("保留")


def test_a_page_that_heard_no_notice_learns_of_the_erasing_when_one_writes(
    open_page: OpenPage, bob: Person, flow: Flow, model: ModelServer
) -> None:
    """M10: the words come back, and the next try begins a new conversation."""
    page = open_page(bob, f"/flows/{flow.pk}/")
    page.route_web_socket(re.compile("/ws/me/"), lambda _line: None)
    page.reload()
    say(page, "金丝雀")
    ended(page)
    bob.api.post("/api/memory/erase", json={"scope": "all"})
    say(page, "还在吗")
    expect(page.get_by_text("这次对话已被清除。")).to_be_visible()
    expect(page.locator("main")).not_to_contain_text("金丝雀")
    page.get_by_label("您的消息").press("Enter")
    expect(ended(page)).to_contain_text("还在吗")


def test_older_messages_come_as_one_scrolls_up(open_page: OpenPage, bob: Person, flow: Flow) -> None:
    """S1"""
    conversation = ConversationFactory(user=bob.user, flow_id=flow.pk)
    for _ in range(30):
        TurnFactory(conversation=conversation, output="回答。\n\n" * 5)
    page = open_page(bob, f"/flows/{flow.pk}/")
    expect(page.locator(".turn")).to_have_count(20)
    expect(last_turn(page)).to_be_in_viewport()
    page.locator("#log").evaluate("log => log.scrollTop = 0")
    expect(page.locator(".turn")).to_have_count(30)
    expect(page.locator(".turn").first).to_contain_text("Q1")
    expect(page.get_by_role("button", name="更早的消息")).to_be_hidden()


def test_the_page_around_a_long_conversation_does_not_scroll(open_page: OpenPage, bob: Person, flow: Flow) -> None:
    conversation = ConversationFactory(user=bob.user, flow_id=flow.pk)
    for _ in range(10):
        TurnFactory(conversation=conversation, output="回答。\n\n" * 3)
    page = open_page(bob, f"/flows/{flow.pk}/")
    expect(last_turn(page)).to_be_in_viewport()
    page.locator("#log").evaluate("log => log.scrollTo(0, 0)")
    assert page.evaluate("document.documentElement.scrollHeight") == 800


def test_who_stays_at_the_top_of_a_long_conversation_gets_it_whole_and_back_to_its_end(
    open_page: OpenPage, bob: Person, flow: Flow
) -> None:
    """S1: a held Home key, and what is out of sight keeps its height."""
    conversation = ConversationFactory(user=bob.user, flow_id=flow.pk)
    for _ in range(150):
        TurnFactory(conversation=conversation, output="回答。\n\n" * 3)
    page = open_page(bob, f"/flows/{flow.pk}/")
    expect(page.locator(".turn")).to_have_count(20)
    # As every frame does while the key is held: there is no moment at which one is seen to have left the top.
    page.locator("#log").evaluate(
        "log => { const home = () => { log.scrollTop = 0; requestAnimationFrame(home) }; home() }"
    )
    expect(page.locator(".turn")).to_have_count(150, timeout=20_000)
    expect(page.locator(".turn").first).to_contain_text("Q1")
    page.evaluate("window.requestAnimationFrame = () => 0")
    heights = "log => [...log.querySelectorAll('.turn')].map((turn) => Math.round(turn.getBoundingClientRect().height))"
    assert len(set(page.locator("#log").evaluate(heights)[:-1])) == 1
    page.get_by_label("到最新消息").click()
    expect(last_turn(page)).to_be_in_viewport()


def test_nothing_that_an_answer_says_runs_or_is_fetched(
    open_page: OpenPage, bob: Person, flow: Flow, model: ModelServer
) -> None:
    """S1: scripts, images, bad links, a fence that never ends, 10,000 characters without a space."""
    evil = "<script>window.ran=1</script>\n\n<img src=x onerror=window.ran=1> ![i](https://example.org/x.png)\n\n"
    evil += f"[点我](javascript:window.ran=1)\n\n{'字' * 10_000}\n\n```\n<b>没有结束"
    model.enqueue(Answer([evil[place : place + 50] for place in range(0, len(evil), 50)]))
    page = open_page(bob, f"/flows/{flow.pk}/")
    say(page, "坏内容")
    expect(ended(page).locator("pre")).to_have_text("<b>没有结束")
    for _ in range(2):
        assert page.evaluate("window.ran") is None
        assert page.locator(".prose :is(img, script, b)").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert "字" * 10_000 in last_turn(page).inner_text()
        page.reload()


def test_on_a_phone_the_list_is_a_drawer_that_the_keyboard_can_leave(
    open_page: OpenPage, bob: Person, flow: Flow, model: ModelServer
) -> None:
    page = open_page(bob, f"/flows/{flow.pk}/", width=390, height=844)
    side = page.locator("#side")
    expect(side).to_be_hidden()
    page.get_by_role("button", name="对话", exact=True).press("Enter")
    expect(side).to_be_visible()
    page.keyboard.press("Escape")
    expect(side).to_be_hidden()
    expect(page.get_by_role("button", name="对话", exact=True)).to_be_focused()


def test_an_answer_shows_which_memories_it_used_and_leads_to_where_they_were_said(
    open_page: OpenPage, bob: Person, flow: Flow, model: ModelServer
) -> None:
    """L10: the day and the words, the whole exchange on a click, and its place in the conversation behind a link."""
    earlier = bob.says(flow, "李娜负责供应商交付，单号 AB-1203。")
    for number in range(30):
        TurnFactory(conversation=Conversation.objects.get(pk=earlier["session_id"]), input=f"第{number}句")
    page = open_page(bob, f"/flows/{flow.pk}/?new=1")
    model.enqueue(Answer("李娜。"))
    say(page, "AB-1203 谁负责？")
    for _live_and_reloaded in range(2):
        fold = ended(page).locator("[data-recalled]")
        expect(fold.locator("> summary")).to_have_text("用到 1 条记忆")
        fold.locator("> summary").click()
        memory = fold.get_by_role("listitem")
        expect(memory).to_contain_text("李娜负责供应商交付，单号 AB-1203。")
        page.reload()
    last_turn(page).locator("[data-recalled] > summary").click()
    last_turn(page).locator(".memories summary").click()
    last_turn(page).get_by_role("link", name="打开").click()
    expect(page).to_have_url(re.compile(rf"{earlier['session_id']}/\?at={earlier['turn_id']}"))
    sought = page.locator(f"[data-turn='{earlier['turn_id']}']")
    expect(sought).to_be_in_viewport()
    expect(sought).to_contain_text("李娜负责供应商交付")


def test_a_flow_is_told_to_remember_nothing(open_page: OpenPage, bob: Person, flow: Flow) -> None:
    """M11: from the menu, and back; the switch of the conversation says why it cannot be turned meanwhile."""
    page = open_page(bob, f"/flows/{flow.pk}/")
    page.locator("[data-chat-menu] > summary").click()
    page.get_by_role("button", name="在这个流程里什么都不记").click()
    expect(page.locator("[data-memory]")).to_be_disabled()
    expect(page.locator("[data-memory]")).to_have_attribute("title", "您已关闭这个流程的记忆。")
    page.locator("[data-chat-menu] > summary").click()
    page.get_by_role("button", name="在这个流程里重新记住").click()
    expect(page.locator("[data-memory]")).to_be_enabled()
