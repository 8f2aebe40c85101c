"""What the start of a turn costs before the model is asked: two statements and no more threads than phases."""

import uuid
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext

import llm
from flows import threads
from flows.conversation import Command, open_turn, usable_flow
from flows.errors import FlowNotFound
from flows.models import Flow
from llm.models import ProviderProfile
from memory.models import Conversation, MemoryOwner, Turn, TurnStatus
from tests.doubles import ModelServer
from tests.factories import TurnFactory, UserFactory, make_flow
from tests.people import Person
from tests.waiting import eventually


@pytest.fixture
def talk(transactional_db: None) -> Flow:
    """A flow that was talked to before, so that what is read once a process is at hand."""
    flow = make_flow()
    open_turn(UserFactory(), Command(flow_id=flow.pk, input="早"))
    return flow


def statements(user: Any, flow: Flow, **command: Any) -> int:
    with CaptureQueriesContext(connection) as asked:
        open_turn(user, Command(flow_id=flow.pk, input="在吗", **command))
    return len(asked)


@pytest.mark.parametrize("client_turn_id", [None, "one"])
def test_a_turn_is_opened_by_two_statements(talk: Flow, client_turn_id: str | None) -> None:
    """The flow with the right to it, and the saved question: in a new session as in an old one."""
    user = UserFactory()
    assert statements(user, talk, client_turn_id=client_turn_id) == 2
    session = Conversation.objects.get(user=user)
    assert MemoryOwner.objects.filter(user=user).exists()
    Turn.objects.filter(conversation=session).update(status=TurnStatus.COMPLETE, output="在")
    again = client_turn_id and "two"
    assert statements(user, talk, client_turn_id=again, session_id=session.pk) == 2
    assert list(Turn.objects.filter(conversation=session).values_list("seq", "status")) == [
        (1, "complete"),
        (3, "running"),
    ]
    session.refresh_from_db()
    assert session.last_seq == 4


def test_the_turn_in_hand_is_the_row(talk: Flow) -> None:
    """What the statement returned is what PostgreSQL holds, in both its forms."""
    user = UserFactory()
    MemoryOwner.objects.create(user=user, memory_enabled=False)
    first, _ = open_turn(user, Command(flow_id=talk.pk, input="一", inputs={"place": "北京"}))
    Turn.objects.filter(pk=first.turn_id).update(status=TurnStatus.COMPLETE)
    second, _ = open_turn(user, Command(flow_id=talk.pk, input="二", session_id=first.conversation.pk))
    for opened in (first, second):
        stored = Turn.objects.get(pk=opened.turn_id)
        names = [field.attname for field in Turn._meta.concrete_fields if field.attname not in ("status", "messages")]
        assert {name: getattr(opened.turn, name) for name in names} == {name: getattr(stored, name) for name in names}
        assert not opened.turn.memory_enabled
    assert second.conversation.last_seq == Conversation.objects.get(user=user).last_seq == 4


def test_a_listener_that_began_the_turn_waits_for_no_second_look(
    bob: Person, flow: Flow, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One hop to open and none to listen; over SSE the view's own thread opens."""
    bob.says(flow, "先来一句")
    crossed: list[str] = []
    run = threads.run

    async def counted(work: Any, *args: Any, **kwargs: Any) -> Any:
        crossed.append(work.__name__)
        return await run(work, *args, **kwargs)

    monkeypatch.setattr(threads, "run", counted)
    with bob.socket(flow.pk) as socket:
        socket.send("turn.start", input="在吗")
        socket.to_end()
    assert crossed.count("open_words") == 1
    assert "get_turn" not in crossed
    crossed.clear()
    assert bob.api.post(f"/api/flows/{flow.pk}/stream", json={"input": "在吗"}).status_code == 200
    assert not {"open_words", "get_turn"} & set(crossed)


@pytest.mark.django_db
class TestTheCompiledLookUp:
    """It must follow the rule of `Flow.objects.usable_by` in every case."""

    @pytest.mark.parametrize("change", ["open", "archived", "unpublished", "granted", "refused", "deactivated"])
    def test_it_finds_what_the_rule_allows(self, change: str) -> None:
        flow, user = make_flow(), UserFactory()
        if change in ("granted", "refused"):
            flow.groups.add(Group.objects.create(name="HR"))
        if change == "granted":
            user.groups.add(*flow.groups.all())
        user.is_active = change != "deactivated"
        flow.is_archived = change == "archived"
        flow.published_version = None if change == "unpublished" else 1
        user.save()
        flow.save()
        allowed = Flow.objects.usable_by(user).filter(pk=flow.pk).exists()
        assert allowed is (change in ("open", "granted"))
        assert bool(usable_flow(user, flow.pk)) is allowed
        if not allowed:
            with pytest.raises(FlowNotFound):
                open_turn(user, Command(flow_id=flow.pk, input="在吗"))

    def test_only_an_own_session_pins_a_version(self) -> None:
        flow, stranger = make_flow(), UserFactory()
        turn = TurnFactory(conversation__flow_id=flow.pk)
        flow.publish(flow.versions.get().definition)
        owner = turn.conversation.user
        mine, _ = open_turn(owner, Command(flow_id=flow.pk, input="二", session_id=turn.conversation_id))
        assert mine.conversation.flow_version == 1
        theirs, _ = open_turn(stranger, Command(flow_id=flow.pk, input="二"))
        assert theirs.conversation.flow_version == 2
        assert usable_flow(stranger, flow.pk) == (flow.pk, flow.name, 2, None)


@pytest.mark.django_db
class TestTheProfileAtHand:
    def test_it_is_not_asked_for_with_every_turn_but_a_change_counts_at_once(self) -> None:
        profile = ProviderProfile.objects.create(name=f"house-{uuid.uuid4().hex}", model="one", is_default=True)
        assert llm.recent_profile().model == "one"
        with CaptureQueriesContext(connection) as asked:
            assert llm.recent_profile().model == "one"
        assert not asked.captured_queries
        profile.model = "two"
        profile.save()
        assert llm.recent_profile().model == "two"
        profile.delete()
        assert llm.recent_profile() == llm.resolve_profile()

    def test_what_another_process_changed_is_seen_when_the_answer_has_aged(self) -> None:
        ProviderProfile.objects.create(name="house", model="one", is_default=True)
        assert llm.recent_profile().model == "one"
        ProviderProfile.objects.update(model="two")  # no signal, as from elsewhere
        eventually(lambda: llm.recent_profile().model == "two")
