"""What a person reads while answers are written: as early as it is certain, whole, one answer after another (S2)."""

from hypothesis import given
from hypothesis import strategies as st

from flows.speaking import Speaker, live_answers
from tests.flows.fakes import graph, node

TWO = graph(
    "start -> one -> first",
    "start -> two -> second",
    one=node("llm"),
    two=node("llm"),
    first=node("answer", text="{{one.text}}"),
    second=node("answer", text="其次：{{two.text}}。"),
)


def test_an_answer_speaks_while_its_node_writes() -> None:
    speaker = Speaker(TWO)
    assert [speaker.heard("one", "你"), speaker.heard("one", "好"), speaker.finished("first", "你好")] == [
        ["你"],
        ["好"],
        [],
    ]


def test_the_text_around_the_reference_is_spoken_in_its_place() -> None:
    speaker = Speaker(TWO)
    assert speaker.heard("two", "茶") == ["其次：茶"]
    assert speaker.finished("second", "其次：茶。") == ["。"]


def test_an_answer_that_is_ready_waits_for_the_one_that_speaks() -> None:
    speaker = Speaker(TWO)
    speaker.heard("one", "一")
    assert speaker.finished("second", "其次：茶。") == []
    assert speaker.heard("one", "二") == ["二"]
    assert speaker.finished("first", "一二") == ["\n\n其次：茶。"]


def test_an_answer_goes_on_in_the_middle_when_its_turn_comes() -> None:
    speaker = Speaker(TWO)
    speaker.heard("one", "一")
    assert speaker.heard("two", "茶") == []
    assert speaker.finished("first", "一") == ["\n\n其次：茶"]
    assert speaker.heard("two", "和水") == ["和水"]


def test_an_answer_that_is_skipped_in_the_middle_lets_the_next_one_speak() -> None:
    speaker = Speaker(TWO)
    speaker.heard("one", "一")
    speaker.finished("second", "抱歉")
    assert speaker.skipped("first") == ["\n\n抱歉"]


def test_an_answer_that_is_skipped_before_its_turn_says_nothing() -> None:
    speaker = Speaker(TWO)
    speaker.heard("one", "一")
    speaker.heard("two", "茶")
    speaker.skipped("second")
    assert speaker.finished("first", "一") == []


def test_skipping_a_node_that_never_spoke_changes_nothing() -> None:
    assert Speaker(TWO).skipped("one") == []


def test_what_was_said_is_not_unsaid_when_something_else_stands_in() -> None:
    speaker = Speaker(TWO)
    speaker.heard("one", "说到一半")
    assert speaker.finished("first", "全文") == ["\n\n全文"]


def test_an_empty_answer_leaves_no_gap() -> None:
    speaker = Speaker(TWO)
    assert speaker.finished("first", "") == []
    assert speaker.finished("second", "其次。") == ["其次。"]


def test_an_answer_speaks_at_once_only_when_nothing_can_come_between() -> None:
    """One way in, without a branch, from the node that its template names first."""
    answer = node("answer", text="{{one.text}}")
    assert live_answers(TWO) == {"one": ("first", ""), "two": ("second", "其次：")}
    joined = graph("start -> one -> answer", "start -> answer", one=node("llm"), answer=answer)
    branched = graph("start -> fork -yes-> answer", fork=node("fork"), answer=node("answer", text="{{fork.text}}"))
    other = graph("start -> one -> answer", one=node("llm"), answer=node("answer", text="{{start.input}}{{one.text}}"))
    assert live_answers(joined) == live_answers(branched) == live_answers(other) == {}


@given(st.data())
def test_however_two_answers_are_written_each_is_read_whole(data: st.DataObject) -> None:
    speaker = Speaker(TWO)
    pieces = {"one": list("一二三"), "two": list("甲乙丙")}
    said: list[str] = []
    while pieces:
        name = data.draw(st.sampled_from(sorted(pieces)))
        if pieces[name]:
            said += speaker.heard(name, pieces[name].pop(0))
        else:
            del pieces[name]
            said += speaker.finished(*(("first", "一二三") if name == "one" else ("second", "其次：甲乙丙。")))
    assert "".join(said) in ("一二三\n\n其次：甲乙丙。", "其次：甲乙丙。\n\n一二三")
