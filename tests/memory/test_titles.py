"""S8: the first words are a session's title at once, and the model's title follows."""

import pytest

from flows.models import Flow
from memory.models import Conversation, TitleSource, TokenUse
from memory.titles import clean, title_due_sessions
from tests.doubles import Answer, ModelServer
from tests.factories import ConversationFactory, TurnFactory
from tests.people import Person

pytestmark = pytest.mark.django_db(transaction=True)


def answered() -> Conversation:
    conversation = ConversationFactory(title="北斗项目的上线时间")
    TurnFactory(conversation=conversation, input="北斗项目什么时候上线？", output="五月三日。")
    return conversation


def test_the_model_names_a_session_once_it_has_an_answer(model: ModelServer) -> None:
    conversation, waiting = answered(), ConversationFactory()
    model.enqueue(Answer("《北斗上线》"))
    assert title_due_sessions(limit=10) == 1
    conversation.refresh_from_db()
    waiting.refresh_from_db()
    assert (conversation.title, conversation.title_source) == ("北斗上线", TitleSource.MODEL)
    assert waiting.title_source == TitleSource.WORDS
    assert TokenUse.objects.get(user=conversation.user, kind="title").completion_tokens > 0


def test_what_was_said_reaches_the_model_as_data(model: ModelServer) -> None:
    answered()
    model.enqueue(Answer("标题"))
    title_due_sessions(limit=10)
    system, user = model.chats[0].body["messages"]
    assert "北斗" not in system["content"]
    assert user["content"].startswith("<<<data")


def test_no_title_holds_a_secret(bob: Person, flow: Flow, model: ModelServer) -> None:
    """L11: neither the first words nor the model's, and the model is not sent one."""
    said = bob.says(flow, "身份证11010519491231002X，帮我登记")
    session = Conversation.objects.get(pk=said["session_id"])
    assert session.title == "身份证[redacted id]，帮我登记"
    model.enqueue(Answer("登记 11010519491231002X"))
    title_due_sessions(limit=10)
    session.refresh_from_db()
    assert session.title == "登记 [redacted id]"
    assert "11010519491231002X" not in str(model.chats[-1].body)


def test_a_title_that_its_owner_gave_stays(model: ModelServer) -> None:
    conversation = answered()
    Conversation.objects.update(title="我的标题", title_source=TitleSource.PERSON)
    assert title_due_sessions(limit=10) == 0
    conversation.refresh_from_db()
    assert conversation.title == "我的标题"
    assert not model.chats


@pytest.mark.parametrize("answer", [Answer(status=401), Answer("")])
def test_a_failure_leaves_the_first_words_and_is_tried_again_later(model: ModelServer, answer: Answer) -> None:
    conversation = answered()
    model.enqueue(*[answer] * 4)
    assert title_due_sessions(limit=10) == 0
    assert title_due_sessions(limit=10) == 0, "it is claimed for a while"
    conversation.refresh_from_db()
    assert (conversation.title, conversation.title_attempts) == ("北斗项目的上线时间", 1)


def test_without_a_model_nothing_is_made_up() -> None:
    conversation = answered()
    assert title_due_sessions(limit=10) == 0
    conversation.refresh_from_db()
    assert conversation.title_attempts == 0


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("  # 周报 \n说明", "周报"),
        ('"Weekly report."', "Weekly report"),
        ("", ""),
        ("长" * 100, "长" * 59 + "…"),
    ],
)
def test_a_title_is_one_plain_line(answer: str, title: str) -> None:
    assert clean(answer) == title
