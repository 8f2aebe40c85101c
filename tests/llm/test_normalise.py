"""Any conversation becomes one that every chat template takes (S5)."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from llm.normalise import normalised
from llm.types import Message, ToolCall

CALL = ToolCall(id="call_1", name="find_person", arguments="{}")
MESSAGES = st.lists(
    st.builds(
        Message, role=st.sampled_from(["system", "user", "assistant"]), content=st.sampled_from(["", " ", "话", "b"])
    )
)


def brief(messages: list[Message]) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in messages]


def system(text: str) -> Message:
    return Message("system", text)


def user(text: str) -> Message:
    return Message("user", text)


def assistant(text: str) -> Message:
    return Message("assistant", text)


@given(MESSAGES)
def test_there_is_one_system_message_first_then_roles_alternate_from_the_user(messages: list[Message]) -> None:
    result = normalised(messages)
    roles = [message.role for message in result]
    assert "system" not in roles[1:]
    turns = roles[1:] if roles[:1] == ["system"] else roles
    assert turns[:1] in ([], ["user"])
    assert all(one != other for one, other in pairwise(turns))
    assert all(message.content.strip() for message in result if message.role != "system")


def test_several_system_messages_become_one_in_their_order() -> None:
    messages = [system("规则"), user("问"), system("补充"), system("")]
    assert brief(normalised(messages)) == [("system", "规则\n\n补充"), ("user", "问")]


def test_neighbours_of_one_role_are_joined() -> None:
    messages = [user("一"), user("二"), assistant("三"), assistant("四"), user("五")]
    assert brief(normalised(messages)) == [("user", "一\n\n二"), ("assistant", "三\n\n四"), ("user", "五")]


def test_what_the_assistant_said_before_the_first_question_is_left_out() -> None:
    assert brief(normalised([assistant("欢迎"), user("问")])) == [("user", "问")]


def test_a_failed_turn_is_left_out_whole() -> None:
    """An empty answer that is replayed kills a conversation for good (fault 15)."""
    assert brief(normalised([user("旧问"), assistant(" "), user("新问")])) == [("user", "新问")]


def test_the_current_question_stays_even_before_an_empty_placeholder() -> None:
    assert brief(normalised([user("问"), assistant("")])) == [("user", "问")]


def test_content_in_parts_and_missing_content_are_accepted() -> None:
    parts = Message("user", [{"type": "text", "text": "看图"}, {"type": "image_url"}])  # type: ignore[arg-type]
    nothing = Message("assistant", None)  # type: ignore[arg-type]
    assert brief(normalised([parts, nothing])) == [("user", "看图")]


def test_a_tool_result_follows_its_call_and_one_without_a_call_is_left_out() -> None:
    asking = Message("assistant", "", tool_calls=(CALL,))
    result = Message("tool", "王小明", tool_call_id="call_1")
    orphan = Message("tool", "?", tool_call_id="call_9")
    messages = normalised([user("谁？"), asking, result, orphan, assistant("是王小明"), user("谢谢")])
    assert [message.role for message in messages] == ["user", "assistant", "tool", "assistant", "user"]
    assert messages[1].tool_calls == (CALL,)


def test_two_results_of_one_round_stay_two() -> None:
    other = ToolCall(id="call_2", name="find_person", arguments="{}")
    asking = Message("assistant", "", tool_calls=(CALL, other))
    results = [Message("tool", text, tool_call_id=call.id) for text, call in (("甲", CALL), ("乙", other))]
    assert brief(normalised([user("谁？"), asking, *results]))[2:] == [("tool", "甲"), ("tool", "乙")]


def test_a_prompt_of_system_text_alone_becomes_a_question() -> None:
    assert brief(normalised([system("写一个标题")])) == [("user", "写一个标题")]
    assert normalised([]) == []


def test_half_surrogates_and_nul_are_made_safe() -> None:
    assert brief(normalised([user("a\0\ud83d")])) == [("user", "a\ufffd")]
