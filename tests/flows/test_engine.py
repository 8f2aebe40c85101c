"""The engine (F3): branches, joins, parallel nodes, failures, and a text that is whole whatever happens."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

import pytest

from flows import engine
from flows.errors import NodeFault, NodeTimeout
from flows.nodes import NODE_TYPES
from flows.steps import NodeFinished, NodeStarted, Spent, Text
from llm.types import Usage
from tests.flows.fakes import Broken, ScriptedModel, finished, graph, node, output, started, walked

pytestmark = pytest.mark.usefixtures("fakes")
SORRY = node("answer", text="抱歉")
DONE = node("answer", text="好了")


async def test_a_straight_flow_reports_each_node_and_streams_its_text() -> None:
    """F3: the answer speaks while its node writes."""
    flow = graph(
        "start -> reply -> answer",
        reply=node("llm", system="您是助手", prompt="问：{{start.input}}"),
        answer=node("answer", text="{{reply.text}}"),
    )
    model = ScriptedModel()
    steps = await walked(flow, model=model)
    assert [step for step in steps if not isinstance(step, NodeFinished)] == [
        NodeStarted("start", ""),
        NodeStarted("reply", ""),
        Text("你"),
        Text("好"),
        NodeStarted("answer", ""),
    ]
    assert list(finished(steps)) == ["start", "reply", "answer"]
    assert model.asked == [{"system": "您是助手", "words": "问：你好", "answering": True}]


async def test_a_model_that_feeds_no_answer_is_asked_without_memory() -> None:
    """M13: memory reaches the llm nodes that feed an answer."""
    flow = graph(
        "start -> think -> reply -> answer",
        think=node("llm", prompt="分类：{{start.input}}"),
        reply=node("llm", prompt="{{think.text}}"),
        answer=node("answer", text="{{reply.text}}"),
    )
    model = ScriptedModel()
    await walked(flow, model=model)
    assert [asked["answering"] for asked in model.asked] == [False, True]


async def test_independent_nodes_run_at_the_same_time() -> None:
    """F3: each of the two goes on only while the other runs."""
    flow = graph("start -> one -> answer", "start -> two -> answer", one=node("meet"), two=node("meet"), answer=DONE)
    assert output(await walked(flow)) == "好了"


async def test_a_join_fires_once_when_everything_before_it_has_ended() -> None:
    """F3."""
    flow = graph(
        "start -> short -> join",
        "start -> long -> longer -> join",
        short=node("say", pieces=["甲"]),
        long=node("say", pieces=["乙"], yields=5),
        longer=node("say", pieces=["丙"], yields=5),
        join=node("answer", text="{{short.text}}{{longer.text}}"),
    )
    steps = await walked(flow)
    assert started(steps).count("join") == 1
    assert list(finished(steps))[-2:] == ["longer", "join"]
    assert output(steps) == "甲丙"


@pytest.mark.parametrize(("take", "taken"), [("yes", "是"), ("no", "否")])
async def test_only_the_branch_taken_runs_and_the_join_behind_it_still_fires(take: str, taken: str) -> None:
    """F3: skip tokens travel down the other branch, however long it is."""
    flow = graph(
        "start -> fork -yes-> yes -> join",
        "fork -no-> no -> further -> join",
        fork=node("fork", take=take),
        yes=node("answer", text="是"),
        no=node("say"),
        further=node("answer", text="否"),
        join=DONE,
    )
    steps = await walked(flow)
    assert output(steps) == f"{taken}\n\n好了"
    assert started(steps).count("join") == 1
    assert ("yes" in started(steps)) is (take == "yes")


async def test_a_node_behind_nothing_but_dead_branches_never_runs() -> None:
    flow = graph(
        "start -> fork -yes-> answer",
        "fork -no-> one -> never",
        "fork -no-> two -> never",
        fork=node("fork"),
        one=node("say"),
        two=node("say"),
        never=SORRY,
        answer=DONE,
    )
    assert started(await walked(flow)) == ["start", "fork", "answer"]


async def test_a_dead_branch_of_a_thousand_nodes_is_skipped() -> None:
    """A flow may be as long as it likes: nothing here is limited by the depth of calls."""
    names = [f"n{number}" for number in range(1000)]
    flow = graph(
        "start -> fork -yes-> answer",
        "fork -no-> " + " -> ".join(names),
        fork=node("fork"),
        answer=DONE,
        **{name: node("say") for name in names},
    )
    assert output(await walked(flow)) == "好了"


async def test_two_edges_to_the_same_node_run_it_once() -> None:
    flow = graph("start -> answer", "start -> answer", answer=DONE)
    assert output(await walked(flow)) == "好了"


async def test_a_passing_failure_is_tried_again(fakes: Mapping[str, Any]) -> None:
    """F3: retries."""
    flow = graph("start -> say -> answer", say=node("say", failure="passing", failures=2, retries=2), answer=DONE)
    assert output(await walked(flow)) == "好了"
    assert fakes["say"].attempts == 3


@pytest.mark.parametrize(
    ("config", "attempts"),
    [
        ({"failure": "passing"}, 1),
        ({"failure": "passing", "retries": 2}, 3),
        ({"failure": "permanent", "retries": 2}, 1),
        ({"failure": "unexpected", "retries": 2}, 1),
        ({"failure": "passing", "retries": 2, "pieces": ["说了"]}, 1),
    ],
    ids=["no retries", "used up", "permanent", "unexpected", "after output"],
)
async def test_a_failure_ends_the_run_when_trying_again_cannot_help(
    fakes: Mapping[str, Any], config: dict[str, Any], attempts: int
) -> None:
    flow = graph("start -> say -> answer", say=node("say", **config), answer=DONE)
    with pytest.raises(NodeFault if config["failure"] == "unexpected" else Broken):
        await walked(flow)
    assert fakes["say"].attempts == attempts


async def test_a_node_that_takes_too_long_is_ended(fakes: Mapping[str, Any]) -> None:
    """F3: timeout."""
    flow = graph("start -> hang -> answer", hang=node("hang", timeout=0.01), answer=DONE)
    with pytest.raises(NodeTimeout):
        await walked(flow)
    assert fakes["hang"].let_go.is_set()


@pytest.mark.parametrize("failure", ["passing", "unexpected", "cancelled"])
async def test_a_default_stands_in_for_what_failed(failure: str) -> None:
    """F3: on_error `default`."""
    flow = graph(
        "start -> say -> answer",
        say=node("say", failure=failure, on_error="default", default={"text": "略"}),
        answer=node("answer", text="结果：{{say.text}}"),
    )
    steps = await walked(flow)
    assert output(steps) == "结果：略"
    assert finished(steps)["say"] == ("broken" if failure == "passing" else "node_failed")


async def test_a_failure_takes_the_error_branch_and_no_other() -> None:
    """F3: on_error `branch`."""
    flow = graph(
        "start -> say -> answer",
        "say -error-> sorry",
        say=node("say", failure="permanent", on_error="branch"),
        answer=DONE,
        sorry=SORRY,
    )
    steps = await walked(flow)
    assert output(steps) == "抱歉"
    assert "answer" not in started(steps)


async def test_the_error_branch_is_dead_when_nothing_fails() -> None:
    flow = graph(
        "start -> say -> answer", "say -error-> sorry", say=node("say", on_error="branch"), answer=DONE, sorry=SORRY
    )
    assert output(await walked(flow)) == "好了"


async def test_two_answers_that_are_written_at_once_are_read_one_after_the_other() -> None:
    """What the second one's node wrote while the first was speaking is neither lost nor said twice."""
    flow = graph(
        "start -> one -> first",
        "start -> two -> second",
        one=node("say", pieces=["一", "二", "三"], yields=2),
        two=node("say", pieces=["甲", "乙", "丙", "丁", "戊"], yields=2),
        first=node("answer", text="{{one.text}}"),
        second=node("answer", text="{{two.text}}"),
    )
    assert output(await walked(flow)) == "一二三\n\n甲乙丙丁戊"


async def test_what_was_said_before_a_failure_stays_and_the_error_branch_speaks_behind_it() -> None:
    """An answer that began to stream and is never reached must not keep the others silent."""
    flow = graph(
        "start -> say -> answer",
        "say -error-> sorry",
        say=node("say", pieces=["说到一半"], failure="permanent", on_error="branch"),
        answer=node("answer", text="{{say.text}}"),
        sorry=SORRY,
    )
    assert output(await walked(flow)) == "说到一半\n\n抱歉"


async def test_what_was_said_before_a_failure_stays_and_the_default_follows() -> None:
    flow = graph(
        "start -> say -> answer",
        say=node("say", pieces=["说到一半"], failure="permanent", on_error="default", default={"text": "全文"}),
        answer=node("answer", text="{{say.text}}"),
    )
    assert output(await walked(flow)) == "说到一半\n\n全文"


async def test_the_first_failure_lets_go_of_every_other_node(fakes: Mapping[str, Any]) -> None:
    flow = graph(
        "start -> hang -> answer",
        "start -> say -> answer",
        hang=node("hang"),
        say=node("say", pieces=["一"], yields=3, failure="permanent"),
        answer=DONE,
    )
    with pytest.raises(Broken):
        await walked(flow)
    assert fakes["hang"].let_go.is_set()


async def test_closing_a_run_closes_the_models_stream() -> None:
    """S3: a stop reaches the model."""
    flow = graph("start -> reply -> answer", reply=node("llm"), answer=node("answer", text="{{reply.text}}"))
    model = ScriptedModel(hold=asyncio.Event())
    async with aclosing(engine.run(flow, inputs={"input": ""}, conversing=model, working=None)) as steps:
        async for step in steps:
            if isinstance(step, Text):
                break
    assert model.closed


async def test_cancelling_the_task_that_reads_a_run_ends_its_nodes(fakes: Mapping[str, Any]) -> None:
    flow = graph("start -> hang -> answer", hang=node("hang", on_error="default"), answer=DONE)
    task = asyncio.create_task(walked(flow))
    await fakes["hang"].begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert fakes["hang"].let_go.is_set()


async def test_a_node_that_is_cancelled_from_within_has_failed() -> None:
    """A library that cancels its own work must neither hang a turn nor pass for a stop."""
    flow = graph("start -> say -> answer", say=node("say", failure="cancelled"), answer=DONE)
    with pytest.raises(NodeFault):
        await walked(flow)


@pytest.mark.parametrize("broken", [node("say", no_such_field=1), node("gone")], ids=["config", "type"])
async def test_a_stored_node_that_can_no_longer_be_read_fails_the_run(
    monkeypatch: pytest.MonkeyPatch, broken: dict[str, Any]
) -> None:
    """It must not leave a turn running for ever."""
    flow = graph("start -> broken -> answer", broken=broken, answer=DONE)
    monkeypatch.delitem(NODE_TYPES, "gone", raising=False)
    with pytest.raises(Exception, match=r"no_such_field|gone"):
        await walked(flow)


async def test_the_tokens_of_every_model_call_are_reported() -> None:
    class Counting(ScriptedModel):
        async def stream(self, messages: Any, **options: Any) -> Any:
            async for chunk in super().stream(messages, **options):
                yield chunk
            yield type(chunk)(usage=Usage(11, 7), finish_reason="stop")

    flow = graph("start -> reply -> answer", reply=node("llm"), answer=node("answer", text="{{reply.text}}"))
    assert [step.usage for step in await walked(flow, model=Counting()) if isinstance(step, Spent)] == [Usage(11, 7)]


async def test_the_start_gives_the_inputs_that_it_names_and_no_others() -> None:
    """F1: further inputs of a request."""
    flow = graph(
        "start -> answer",
        start=node("start", inputs=["city", "day"]),
        answer=node("answer", text="{{start.city}}{{start.day}}{{start.secret}}"),
    )
    assert output(await walked(flow, city="成都", secret="x")) == "成都"
