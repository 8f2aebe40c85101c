"""What a sentence that gives work says (P6): whether it does, to whom, and what is to be done."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles.assignments import gives_work, said_to, title_of


@pytest.mark.parametrize(
    ("sentence", "said", "due", "title"),
    [
        ("给小明派个任务，下周五前交季度报告", "小明", "下周五", "交季度报告"),
        ("派个任务给小明：下周五前交季度报告", "小明", "下周五", "交季度报告"),
        ("让小明下周五前交季度报告", "小明", "下周五", "交季度报告"),
        ("请陈晓在十二月十号之前把登录页改好", "陈晓", "十二月十号", "把登录页改好"),
        ("给bob布置一项工作：周五之前把接口文档写完", "bob", "周五", "把接口文档写完"),
        ("安排王小明去整理会议纪要", "王小明", "", "整理会议纪要"),
        ("把季度报告交给小明，下周五前", "小明", "下周五", "季度报告"),
        ("小明，周五前把登录页改好", "小明", "周五", "把登录页改好"),
        ("麻烦给 小明 安排一个任务，让他 下周五 前 交季度报告，谢谢", "小明", "下周五", "交季度报告"),
        ("请給小明派個任務，下週五前交季度報告", "小明", "下周五", "交季度報告"),
        ("派小明准备下周五的会议材料", "小明", "下周五", "准备下周五的会议材料"),
        ("给Bob派个活，写 README（含 API 部分），周五前", "bob", "周五", "写 README（含 API 部分）"),
        ("提醒我明天交周报", "", "明天", "交周报"),
        ("给我自己记一个任务：明天下午三点给客户打电话", "", "明天下午三点", "给客户打电话"),
        ("给小明派个任务", "小明", "", ""),
        ("给小明派个任务，明天前", "小明", "明天", ""),
        ("给 小明 指派 一个任务 ，写文档", "小明", "", "写文档"),
        ("让小明写周报好吗？", "小明", "", "写周报"),
        ("能给小明派个任务，明天写周报吗？", "小明", "明天", "写周报"),
        ("让小明问问客户满意吗？", "小明", "", "问问客户满意吗"),
        (
            "assign bob a task: send the quarterly report by next Friday",
            "bob",
            "next friday",
            "send the quarterly report",
        ),
        ("Please ask Bob to send the Q4 report by next Friday.", "bob", "next friday", "send the Q4 report"),
        ("assign a task to Wang Xiaoming: review the API docs", "wang xiaoming", "", "review the API docs"),
        ("Create a task for bob to fix AB-1203 tomorrow", "bob", "tomorrow", "fix AB-1203"),
        ("by Friday, have Bob check the release notes", "bob", "friday", "check the release notes"),
        ("assign the quarterly report to Bob", "bob", "", "the quarterly report"),
        ("Can you assign Bob to review PR 12 by Monday?", "bob", "monday", "review PR 12"),
        ("assign bob review PR 12", "bob", "", "review PR 12"),
        ("", "", "", ""),
    ],
)
def test_the_title_is_what_is_left_word_for_word(sentence: str, said: str, due: str, title: str) -> None:
    assert title_of(sentence, said=[said] if said else [], due=due) == title


@pytest.mark.parametrize(
    ("sentence", "said", "title"),
    [
        ("给陈晓、大明各派一个任务：写总结", ["陈晓", "大明"], "写总结"),
        ("给小明和陈晓派个任务，写总结", ["小明", "陈晓"], "写总结"),
        ("Assign a task to Bob and Erin: write it up", ["bob", "erin"], "write it up"),
        ("让李小明配合王小明上线", ["李小明", "王小明"], "配合王小明上线"),
    ],
)
def test_several_who_are_named_where_it_says_to_whom_are_no_part_of_the_work(
    sentence: str, said: list[str], title: str
) -> None:
    assert title_of(sentence, said=said) == title


@pytest.mark.parametrize(
    ("sentence", "part"),
    [
        ("给小明派个任务，下周五前和陈晓一起交季度报告", "给小明派个任务"),
        ("派个任务给小明：问陈晓要数据", "派个任务给小明"),
        ("assign a task to Wang Xiaoming: ask Erin for data", "assign a task to Wang Xiaoming"),
        ("Assign bob a task: help Erin", "Assign bob a task"),
        ("让小明交季度报告", ""),
        ("", ""),
    ],
)
def test_who_is_meant_stands_in_a_part_of_its_own_where_there_is_one(sentence: str, part: str) -> None:
    assert said_to(sentence) == part


@pytest.mark.parametrize(
    ("sentence", "names_somebody", "says_when", "does"),
    [
        ("给小明派个任务，下周五前交季度报告", False, True, True),
        ("让小明写周报", False, False, True),
        ("把季度报告交给小明", True, False, True),
        ("小明，周五前把登录页改好", True, True, True),
        ("能给小明派个任务吗？", True, False, True),
        ("Could you assign bob a task?", True, False, True),
        ("这是什么?", False, False, False),
        ("怎么派任务？", False, False, False),
        ("怎么给小明派任务？", True, False, False),
        ("How do I assign bob a task?", True, False, False),
        ("what is bob's task?", True, False, False),
        ("小明的待办是什么？", True, False, False),
        ("什么是任务", False, False, False),
        ("小明是谁？", True, False, False),
        ("王小明", True, False, False),
        ("你好", False, False, False),
        ("what can you do?", False, False, False),
    ],
)
def test_a_question_gives_no_work(sentence: str, names_somebody: bool, says_when: bool, does: bool) -> None:
    assert gives_work(sentence, names_somebody=names_somebody, says_when=says_when) is does


@given(sentence=st.text(max_size=300), said=st.text(max_size=10), due=st.text(max_size=10))
def test_whatever_is_said_nothing_is_made_up(sentence: str, said: str, due: str) -> None:
    """Each character of the title was said."""
    title = title_of(sentence, said=[said], due=due)
    assert set(title) <= set(sentence) | {"，", " "}


def test_a_very_long_sentence_is_read_in_no_time() -> None:
    for sentence in ("给" + "小明" * 50_000, "请" * 100_000, "把" * 100_000 + "交给小明", "a " * 50_000):
        said_to(sentence)
        title_of(sentence, said=["小明"], due="明天")
        gives_work(sentence, names_somebody=True, says_when=False)
