"""Memory as middleware (M13): plugins are taken out, replaced and added by settings, and none can break a turn."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from flows import threads
from flows.models import Flow
from flows.plugins import Plugin
from flows.turn import FlowTurn
from memory.manager import Recalled
from memory.models import Turn
from memory.prompts import Block
from tests.doubles import Answer, ModelServer
from tests.memory.hot_copy import said_to
from tests.people import Person
from tests.waiting import eventually

HERE = "tests.flows.test_plugins"
SESSION_MEMORY = "flows.plugins.session_memory.SessionMemory"


class OldestFirst(Plugin):
    """Another retrieval strategy: only the first thing that was ever said."""

    name = "oldest_first"

    async def before(self, turn: FlowTurn) -> None:
        first = await threads.run(turn.conversation.turns.order_by("seq").first)
        if first and first.pk != turn.turn_id:
            asked = {"role": "user", "content": first.input, "seq": 1}
            answered = {"role": "assistant", "content": first.output, "seq": 2}
            turn.recalled = Recalled([asked, answered])


class NothingPrivate(Plugin):
    """A filter behind another plugin: it takes out what it does not want."""

    name = "nothing_private"

    async def before(self, turn: FlowTurn) -> None:
        kept = [message for message in turn.recalled.messages if "工资" not in message["content"]]
        turn.recalled = Recalled(kept)


class HouseRules(Plugin):
    """Adds a block of data."""

    name = "house_rules"

    async def before(self, turn: FlowTurn) -> None:
        turn.blocks.append(Block("house_rules", "[公司规定]", "报销须在月底前提交。"))


class Failing(Plugin):
    name = "failing"

    async def before(self, turn: FlowTurn) -> None:
        raise ZeroDivisionError("a person's words")

    async def after(self, turn: FlowTurn) -> None:
        raise ZeroDivisionError("a person's words")


class Slow(Plugin):
    """Never comes back, in a coroutine."""

    name = "slow"
    budget = 0.05

    async def before(self, turn: FlowTurn) -> None:
        await asyncio.Event().wait()


class Stuck(Plugin):
    """Does not come back before the test lets it, in a thread that nobody can cancel."""

    name = "stuck"
    budget = 0.05
    let_go: ClassVar[threading.Event]

    async def before(self, turn: FlowTurn) -> None:
        await threads.run(Stuck.let_go.wait)


class Second(Plugin):
    """Ends at once, and lets the one before it end."""

    name = "second"
    beside = True
    ended: ClassVar[asyncio.Event]

    async def before(self, turn: FlowTurn) -> None:
        turn.blocks.append(Block("second", "[二]", "二"))
        Second.ended.set()


class First(Plugin):
    """Stands before `Second`, and cannot end before it."""

    name = "first"
    beside = True

    async def before(self, turn: FlowTurn) -> None:
        await Second.ended.wait()
        turn.blocks.append(Block("first", "[一]", "一"))


class Witness(Plugin):
    """Notes what stands in PostgreSQL when each event comes."""

    name = "witness"
    seen: ClassVar[list[tuple[str, str, str]]]

    async def before(self, turn: FlowTurn) -> None:
        await self._note("before", turn)

    async def after(self, turn: FlowTurn) -> None:
        assert turn.outcome is not None
        await self._note("after", turn)

    async def _note(self, event: str, turn: FlowTurn) -> None:
        row = await threads.run(Turn.objects.get, pk=turn.turn_id)
        Witness.seen.append((event, row.status, row.output))


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    Witness.seen, Stuck.let_go, Second.ended = [], threading.Event(), asyncio.Event()
    yield
    Stuck.let_go.set()


def use(settings: Any, *plugins: str) -> None:
    """Sets `FLOW_PLUGINS`: dotted paths, or names of this file."""
    settings.FLOW_PLUGINS = [name if "." in name else f"{HERE}.{name}" for name in plugins]


def test_without_any_plugin_people_chat_and_every_word_is_kept(
    settings: Any, bob: Person, flow: Flow, model: ModelServer
) -> None:
    """M13, M6: opening and committing a turn are no plugin's work."""
    use(settings)
    first = bob.says(flow, "我叫王小明")
    second = bob.says(flow, "我叫什么？", session_id=first["session_id"])
    assert said_to(model) == ["user: 我叫什么？"]
    assert second["memory_used"]["missing"] == []
    history = bob.api.get(f"/api/memory/sessions/{first['session_id']}").json()["messages"]
    assert [message["content"] for message in history] == ["我叫王小明", "我叫王小明", "我叫什么？", "我叫什么？"]
    assert [message["status"] for message in history] == ["complete"] * 4


def test_with_session_memory_back_in_the_list_the_earlier_turns_are_there(
    settings: Any, bob: Person, flow: Flow, model: ModelServer
) -> None:
    use(settings)
    session_id = bob.says(flow, "我叫王小明")["session_id"]
    use(settings, SESSION_MEMORY)
    bob.says(flow, "我叫什么？", session_id=session_id)
    assert said_to(model) == ["user: 我叫王小明", "assistant: 我叫王小明", "user: 我叫什么？"]


def test_another_retrieval_takes_the_place_of_the_shipped_one(
    settings: Any, bob: Person, flow: Flow, model: ModelServer
) -> None:
    use(settings, "OldestFirst")
    session_id = bob.says(flow, "第一句")["session_id"]
    bob.says(flow, "第二句", session_id=session_id)
    bob.says(flow, "第三句", session_id=session_id)
    assert said_to(model) == ["user: 第一句", "assistant: 第一句", "user: 第三句"]


def test_a_filter_behind_the_retrieval_sees_what_it_found(
    settings: Any, bob: Person, flow: Flow, model: ModelServer
) -> None:
    use(settings, SESSION_MEMORY, "NothingPrivate")
    model.enqueue(Answer("记下了工资。"), Answer("好的。"), Answer("好。"))
    session_id = bob.says(flow, "我的工资是秘密")["session_id"]
    bob.says(flow, "今天开会", session_id=session_id)
    bob.says(flow, "说过什么？", session_id=session_id)
    assert said_to(model) == ["user: 今天开会", "assistant: 好的。", "user: 说过什么？"]


def test_an_added_plugin_puts_its_own_block_before_the_words(
    settings: Any, bob: Person, flow: Flow, model: ModelServer
) -> None:
    use(settings, SESSION_MEMORY, "HouseRules")
    answer = bob.says(flow, "何时报销？")
    assert said_to(model) == ["user: <<<data\n[公司规定]\n报销须在月底前提交。\ndata>>>\n\n何时报销？"]
    assert answer["memory_used"]["budget"]["house_rules"] > 0


def test_plugins_beside_each_other_wait_for_none_and_their_blocks_stand_in_order(
    settings: Any, bob: Person, flow: Flow, model: ModelServer
) -> None:
    use(settings, SESSION_MEMORY, "First", "Second")
    assert bob.says(flow, "说")["memory_used"]["missing"] == []
    assert said_to(model) == ["user: <<<data\n[一]\n一\n\n[二]\n二\ndata>>>\n\n说"]


@pytest.mark.parametrize("name", ["Failing", "Slow", "Stuck"])
def test_a_plugin_that_fails_or_hangs_costs_nothing_but_its_own_part(
    settings: Any, bob: Person, flow: Flow, model: ModelServer, name: str
) -> None:
    """M13, L3: the turn goes on and says what is missing; plugins before and behind it do their work."""
    use(settings, SESSION_MEMORY, name, "HouseRules")
    model.enqueue(Answer("您好，王小明。"), Answer("王小明。"))
    session_id = bob.says(flow, "我叫王小明")["session_id"]
    answer = bob.says(flow, "我叫什么？", session_id=session_id)
    assert answer["status"] == "complete"
    assert answer["memory_used"]["missing"] == [name.lower()]
    assert said_to(model)[1] == "assistant: 您好，王小明。"
    assert "[公司规定]" in said_to(model)[-1]


def test_what_a_plugin_raises_is_logged_without_a_persons_words(
    settings: Any, bob: Person, flow: Flow, model: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    """O3."""
    use(settings, "Failing")
    bob.says(flow, "你好")
    eventually(lambda: caplog.text.count("plugin failed") == 2)
    assert "ZeroDivisionError" in caplog.text
    assert "a person's words" not in caplog.text


def test_before_runs_when_the_question_is_saved_and_after_when_the_answer_is(
    settings: Any, bob: Person, flow: Flow, model: ModelServer
) -> None:
    """M6, M13: MEMORY_RETRIEVAL and MEMORY_STORAGE."""
    use(settings, "Witness")
    model.enqueue(Answer("好的。"))
    bob.says(flow, "你好")
    assert eventually(lambda: len(Witness.seen) == 2 and Witness.seen) == [
        ("before", "running", ""),
        ("after", "complete", "好的。"),
    ]


def test_after_is_told_of_a_turn_that_failed_too(settings: Any, bob: Person, flow: Flow, model: ModelServer) -> None:
    use(settings, "Witness")
    model.enqueue(*[Answer(status=401)] * 3)
    assert bob.api.post(f"/api/flows/{flow.pk}/execute", json={"input": "你好"}).status_code == 502
    assert eventually(lambda: len(Witness.seen) == 2 and Witness.seen)[1] == ("after", "failed", "")
