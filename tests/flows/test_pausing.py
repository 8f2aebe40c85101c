"""A run that waits for the person and goes on in another turn gives what it would have given at once (F3, M6)."""

import asyncio
import json
from typing import Any, cast
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flows.definition import Definition
from flows.nodes.base import Answered
from flows.pausing import Resume, State
from flows.steps import Paused, Step, Text
from flows.validation import validate
from tests.flows.fakes import Ask, finished, graph, node, output, started, walked
from tests.flows.test_engine_properties import AnyDraw, definitions

pytestmark = pytest.mark.usefixtures("fakes")
CARDS = 20


@pytest.fixture
def ask(fakes: Any) -> Ask:
    return cast("Ask", fakes["ask"])


def paused(steps: list[Step]) -> Paused | None:
    return steps[-1] if steps and isinstance(steps[-1], Paused) else None


def answered(waits: Paused) -> Resume:
    """The state as another process reads it from the database, and the answer that the asking node would know."""
    state = State.of_json(json.loads(json.dumps(waits.state.as_json())))
    answer = Answered(True, {"text": f"!{state.node_id}"}, waits.proposal.card, uuid4())
    return Resume(state, answer)


def to_the_end(definition: Definition) -> list[list[Step]]:
    """The steps of each stretch of a run, every card answered."""
    stretches = [asyncio.run(walked(definition))]
    while waits := paused(stretches[-1]):
        assert len(stretches) < CARDS
        stretches.append(asyncio.run(walked(definition, resume=answered(waits))))
    return stretches


def said(steps: list[Step]) -> str:
    """What was said, without the question of a card."""
    waits = paused(steps)
    return output(steps).removesuffix(waits.proposal.text).removesuffix("\n\n") if waits else output(steps)


@st.composite
def asking(draw: AnyDraw) -> Definition:
    """A valid flow in which some nodes ask the person, and every answer says what the nodes before it gave."""
    drawn = draw(definitions())
    nodes = [node.model_dump() for node in drawn.nodes]
    for each in nodes:
        if "pieces" in each["config"] and draw(st.booleans()):
            each |= {"type": "ask", "config": {"pieces": each["config"]["pieces"]}}
    return validate(drawn.model_dump() | {"nodes": nodes})


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(definition=asking())
def test_a_flow_that_pauses_says_and_runs_what_one_does_that_never_paused(ask: Ask, definition: Definition) -> None:
    """F3: every node that ends does so once, in whichever stretch; no answer is said twice, none is lost."""
    ask.at_once = True
    whole = asyncio.run(walked(definition))
    ask.at_once = False
    stretches = to_the_end(definition)
    asked = {waits.state.node_id for steps in stretches if (waits := paused(steps))}
    asking_nodes = {each.id for each in definition.nodes if each.type == "ask"}
    ran = [name for steps in stretches for name in started(steps) if name not in asking_nodes]
    assert sorted(ran) == sorted(set(started(whole)) - asking_nodes)
    assert asked == set(started(whole)) & asking_nodes
    answers = [text for steps in stretches for text in said(steps).split("\n\n") if text]
    # What an answer had begun to say before its node asked is said whole once more when it goes on.
    expected = [text for text in output(whole).split("\n\n") if text]
    assert set(expected) <= set(answers)
    assert all(any(text.startswith(answer) for text in expected) for answer in answers)


async def test_what_does_not_depend_on_the_card_is_done_before_the_run_pauses() -> None:
    flow = graph(
        "start -> ask -> last",
        "start -> slow -> other",
        ask=node("ask"),
        slow=node("say", pieces=["慢"], yields=3),
        other=node("answer", text="{{slow.text}}"),
        last=node("answer", text="{{ask.text}}"),
    )
    steps = await walked(flow)
    waits = paused(steps)
    assert waits
    assert output(steps) == "慢\n\n?ask"
    assert set(finished(steps)) == {"start", "ask", "slow", "other"}
    assert waits.state.node_id == "ask"
    assert set(waits.state.values) == {"start", "slow", "other"}
    again = await walked(flow, resume=answered(waits))
    assert started(again) == ["ask", "last"]
    assert output(again) == "!ask"


async def test_the_way_that_a_node_took_before_the_pause_is_taken_again() -> None:
    flow = graph(
        "start -> fork -yes-> ask -> join",
        "fork -no-> never -> join",
        fork=node("fork", take="yes"),
        ask=node("ask"),
        never=node("say", pieces=["不"]),
        join=node("answer", text="完{{ask.text}}"),
    )
    waits = paused(await walked(flow))
    assert waits
    assert waits.state.branches["fork"] == "yes"
    again = await walked(flow, resume=answered(waits))
    assert started(again) == ["ask", "join"]
    assert output(again) == "完!ask"


async def test_a_second_node_that_asks_does_so_once_the_first_is_answered() -> None:
    flow = graph(
        "start -> a -> answer",
        "start -> b -> answer",
        a=node("ask"),
        b=node("ask"),
        answer=node("answer", text="{{a.text}}{{b.text}}"),
    )
    first = await walked(flow)
    waits = paused(first)
    assert waits
    assert output(first) == "?a"
    second = await walked(flow, resume=answered(waits))
    again = paused(second)
    assert again
    assert output(second) == "?b"
    last = await walked(flow, resume=answered(again))
    assert output(last) == "!a!b"


async def test_what_a_node_said_before_it_asks_stays_said_and_the_question_comes_behind_it() -> None:
    flow = graph("start -> ask -> answer", ask=node("ask", pieces=["好，"]), answer=node("answer", text="{{ask.text}}"))
    steps = await walked(flow)
    assert [step.text for step in steps if isinstance(step, Text)] == ["好，", "\n\n?ask"]
    waits = paused(steps)
    assert waits
    assert output(await walked(flow, resume=answered(waits))) == "好，!ask"


async def test_only_the_node_that_asked_is_given_the_answer() -> None:
    flow = graph("start -> a -> b -> answer", a=node("ask"), b=node("ask"), answer=node("answer", text="{{b.text}}"))
    waits = paused(await walked(flow))
    assert waits
    steps = await walked(flow, resume=answered(waits))
    assert started(steps) == ["a", "b"]
    assert paused(steps)


async def test_a_failure_beside_the_card_ends_the_run_without_one() -> None:
    flow = graph(
        "start -> ask -> answer",
        "start -> bad -> answer",
        ask=node("ask"),
        bad=node("say", pieces=["x"], yields=3, failure="permanent"),
        answer=node("answer", text="."),
    )
    with pytest.raises(Exception, match="broken"):
        await walked(flow)
