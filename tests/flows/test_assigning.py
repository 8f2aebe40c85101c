"""Work given by chat: a sentence becomes a card, and only the speaker's own click a task (P6, M6)."""

from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from flows.models import Action, Flow
from flows.shipped import read_all
from memory.models import Turn
from profiles.models import Look, UserProfile, WorkTask
from tests.doubles import Answer, ModelServer
from tests.factories import make_flow
from tests.people import Person
from tests.profiles.organisation import organisation, report_to

Cast = dict[str, Person]
SENTENCE = "给小明派个任务，下周五前交季度报告"
SHANGHAI = ZoneInfo("Asia/Shanghai")


@pytest.fixture
def cast(live: str) -> Cast:
    return {name: Person(user, live) for name, user in organisation().items()}


@pytest.fixture
def assigning(transactional_db: None) -> Flow:
    """The shipped flow."""
    data = next(data for data in read_all() if data["slug"] == "assign-work")
    return make_flow(data["definition"], name=data["name"])


def next_friday() -> str:
    today = timezone.now().astimezone(SHANGHAI).date()
    friday = today + timedelta(days=4 - today.weekday() + 7)
    end = datetime.combine(friday, time(23, 59), SHANGHAI)
    return f"{end.astimezone(ZoneInfo('UTC')):%Y-%m-%dT%H:%M:%SZ}"


def answer(by: Person, action: dict[str, Any], *, accept: bool = True, **fields: Any) -> dict[str, Any]:
    """Answers a card and waits for what comes of it: the turn as the API shows it."""
    sent = by.api.post(f"/api/actions/{action['action_id']}", json={"accept": accept, "fields": fields})
    assert sent.status_code == 202, sent.text
    return ended(by, sent.json()["turn_id"])


def ended(by: Person, turn_id: str) -> dict[str, Any]:
    by.api.get(f"/api/turns/{turn_id}/events")
    return by.api.get(f"/api/turns/{turn_id}").json()


def test_two_who_may_be_meant_are_asked_about_and_only_the_click_creates_the_task(cast: Cast, assigning: Flow) -> None:
    """P6: the main journey."""
    alice, bob = cast["alice"], cast["bob"]
    said = alice.says(assigning, SENTENCE)
    action, card = said["action"], said["action"]["card"]
    assert (said["status"], said["waiting"], action["status"]) == ("complete", action["action_id"], "pending")
    assert action["kind"] == "assign_work"
    assert [person["display_name"] for person in card["candidates"]] == ["李小明", "王小明"]
    assert {name: card[name] for name in ("title", "assignee", "due_at", "due_text")} == {
        "title": "交季度报告",
        "assignee": None,
        "due_at": next_friday(),
        "due_text": "下周五",
    }
    assert not WorkTask.objects.exists()
    result = answer(alice, action, assignee=bob.user.pk)
    assert result["status"] == "complete"
    task = WorkTask.objects.get()
    assert (task.title, task.assignee, task.creator) == ("交季度报告", bob.user, alice.user)
    assert f"{task.due_at:%Y-%m-%dT%H:%M:%SZ}" == next_friday()
    assert str(task.source_turn_id) == result["turn_id"]
    assert "王小明" in result["output"]
    assert f"#task-{task.pk}" in result["output"]
    assert Turn.objects.get(pk=result["turn_id"]).input == "确认"


def test_a_stranger_finds_nobody_and_learns_of_nobody(cast: Cast, assigning: Flow) -> None:
    """P6: a name out of reach and one that nobody has are told apart by nothing."""
    carol = cast["carol"]
    said, unknown = carol.says(assigning, SENTENCE), carol.says(assigning, SENTENCE.replace("小明", "小强"))
    assert said["output"] == unknown["output"]
    assert said["waiting"] is said["action"] is None
    assert not any(name in said["output"] for name in ("王小明", "李小明", "bob", "dan"))
    assert not Action.objects.exists()
    assert not Look.objects.exists()


def test_one_who_is_meant_stands_on_the_card_and_reads_of_the_look(cast: Cast, assigning: Flow) -> None:
    """P4, P6."""
    alice, bob = cast["alice"], cast["bob"]
    card = alice.says(assigning, "给王小明派个任务：交季度报告")["action"]["card"]
    assert card["assignee"] == {"user_id": bob.user.pk, "display_name": "王小明"}
    assert card["due_at"] is None
    assert [look.viewer for look in Look.objects.at(bob.user)] == [alice.user]


@pytest.mark.parametrize("words", ["这是什么?", "你好", "怎么派任务？", "help"])
def test_what_gives_no_work_is_answered_with_how_to(cast: Cast, assigning: Flow, words: str) -> None:
    said = cast["alice"].says(assigning, words)
    assert said["waiting"] is None
    assert SENTENCE in said["output"]


def test_a_day_that_has_passed_is_asked_about(cast: Cast, assigning: Flow) -> None:
    """P6: nothing is guessed."""
    said = cast["alice"].says(assigning, "给王小明派个任务，昨天前交季度报告")
    assert said["action"]["card"]["due_at"] is None
    assert said["action"]["card"]["due_text"] == "昨天"
    assert "昨天" in said["output"]


def test_english_works_as_well_and_needs_no_model(cast: Cast, assigning: Flow) -> None:
    card = cast["alice"].says(assigning, "Assign bob a task: send the quarterly report by next Friday")["action"][
        "card"
    ]
    assert (card["title"], card["due_at"]) == ("send the quarterly report", next_friday())


ENGLISH = {"Accept-Language": "en"}


def test_whoever_asks_in_english_over_rest_is_answered_in_english(cast: Cast, assigning: Flow) -> None:
    """A turn runs in another thread than its request; so does what follows a click."""
    api = cast["alice"].api
    body = {"input": "Assign bob a task: send the report"}
    said = api.post(f"/api/flows/{assigning.pk}/execute", json=body, headers=ENGLISH).json()
    assert said["output"] == "Please check the task “send the report” for 王小明, then create it."
    sent = api.post(f"/api/actions/{said['waiting']}", json={"accept": True}, headers=ENGLISH).json()
    assert ended(cast["alice"], sent["turn_id"])["output"].startswith("王小明 was given the task")
    assert Turn.objects.get(pk=sent["turn_id"]).input == "Confirm"


def test_work_without_words_for_it_asks_what_is_to_be_done(cast: Cast, assigning: Flow) -> None:
    """P6: it asks, and nobody is given “give Bob a task” as their work."""
    alice = cast["alice"]
    said = alice.says(assigning, "给王小明派个任务，明天前")
    assert said["action"]["card"]["title"] == ""
    assert said["output"] == "要王小明做什么？请填写标题，然后创建任务。"
    refused = alice.api.post(f"/api/actions/{said['waiting']}", json={"accept": True})
    assert [(error["attr"], error["detail"]) for error in refused.json()["errors"]] == [
        ("fields.title", "请写明要做什么。")
    ]
    answer(alice, said["action"], title="写周报")
    assert WorkTask.objects.get().title == "写周报"
    assert "请写明要做什么。" in alice.says(assigning, "给小明派个任务")["output"]


def test_a_title_is_shown_as_it_was_written_and_not_as_markdown(cast: Cast, assigning: Flow) -> None:
    alice, title = cast["alice"], "修 a*b*c、`x 和 [这里](http://evil.test)"
    said = alice.says(assigning, f"给王小明派个任务：{title}")
    assert said["action"]["card"]["title"] == title
    done = answer(alice, said["action"])
    for turn in (alice.api.get(f"/api/turns/{said['turn_id']}").json(), done):
        assert title in turn["html"]
    assert done["html"].count("<a ") == 1


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01"])
@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Shanghai", "Pacific/Kiritimati"])
def test_a_day_at_the_end_of_the_calendar_is_no_date(cast: Cast, assigning: Flow, day: str, zone: str) -> None:
    alice = cast["alice"]
    UserProfile.objects.filter(pk=alice.user.pk).update(time_zone=zone)
    card = alice.says(assigning, f"给王小明派个任务：{day}前交报告")["action"]["card"]
    assert (card["due_at"], card["title"]) == (None, f"{day}前交报告")


def test_no_memory_is_said_to_be_used_where_no_model_was_asked(cast: Cast, assigning: Flow) -> None:
    alice = cast["alice"]
    alice.says(assigning, "给王小明派个任务：交季度报告")
    said = alice.says(assigning, "给王小明派个任务：交季度报告")
    done = answer(alice, said["action"])
    for used in (said["memory_used"], done["memory_used"]):
        assert used == {"turns": [], "episodes": [], "passages": [], "budget": {}, "missing": []}


def test_a_very_long_sentence_becomes_a_short_title_and_keeps_its_words(cast: Cast, assigning: Flow) -> None:
    words = f"给王小明派个任务：{'把报告写完，' * 80}"
    card = cast["alice"].says(assigning, words)["action"]["card"]
    assert len(card["title"]) == 200
    assert card["description"] == words


def test_what_was_changed_on_the_card_is_what_is_given(cast: Cast, assigning: Flow) -> None:
    alice, erin = cast["alice"], cast["erin"]
    action = alice.says(assigning, SENTENCE)["action"]
    changed = {
        "title": "交年度报告",
        "description": "含附表",
        "assignee": erin.user.pk,
        "due_at": "2030-01-05T10:00:00+08:00",
    }
    answer(alice, action, **changed)
    task = WorkTask.objects.get()
    assert (task.title, task.description, task.assignee) == ("交年度报告", "含附表", erin.user)
    assert f"{task.due_at:%Y-%m-%dT%H:%M}" == "2030-01-05T02:00"


def test_declining_creates_nothing_and_says_so(cast: Cast, assigning: Flow) -> None:
    alice = cast["alice"]
    said = alice.says(assigning, SENTENCE)
    result = answer(alice, said["action"], accept=False)
    assert result["status"] == "complete"
    assert "没有创建任务" in result["output"]
    assert not WorkTask.objects.exists()
    shown = alice.api.get(f"/api/turns/{said['turn_id']}").json()["action"]
    assert (shown["status"], shown["result_turn_id"], shown["task_id"]) == ("declined", result["turn_id"], None)


def test_a_typed_name_fills_the_card_anew_and_the_old_one_expires(cast: Cast, assigning: Flow) -> None:
    alice, bob = cast["alice"], cast["bob"]
    old = alice.says(assigning, SENTENCE)
    new = alice.says(assigning, "王小明吧", session_id=old["session_id"])
    assert new["action"]["card"] == old["action"]["card"] | {
        "assignee": {"user_id": bob.user.pk, "display_name": "王小明"}
    }
    refused = alice.api.post(
        f"/api/actions/{old['waiting']}", json={"accept": True, "fields": {"assignee": bob.user.pk}}
    )
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (409, "action_expired")
    answer(alice, new["action"])
    assert WorkTask.objects.get().assignee == bob.user


def test_answering_a_typed_name_again_fills_the_card_again(cast: Cast, assigning: Flow) -> None:
    """M6: the turn before it waits still, whatever the replaced one had made of it."""
    alice = cast["alice"]
    old = alice.says(assigning, SENTENCE)
    first = alice.says(assigning, "bob", session_id=old["session_id"])
    sent = alice.api.post(f"/api/turns/{first['turn_id']}/regenerate")
    again = ended(alice, sent.json()["turn_id"])
    assert again["action"]["card"] == first["action"]["card"]
    assert again["action"]["status"] == "pending"


@pytest.mark.parametrize("words", ["小明", "周可", "王小明和李小明", "给王小明派个任务：写周报"])
def test_words_that_settle_nothing_leave_the_card_alone(cast: Cast, assigning: Flow, words: str) -> None:
    alice = cast["alice"]
    old = alice.says(assigning, SENTENCE)
    alice.says(assigning, words, session_id=old["session_id"])
    assert alice.api.get(f"/api/turns/{old['turn_id']}").json()["action"]["status"] == "pending"


@pytest.mark.parametrize("words", ["不用了", "取消。", "Cancel", "never mind"])
def test_a_typed_refusal_declines_the_card(cast: Cast, assigning: Flow, words: str) -> None:
    alice = cast["alice"]
    old = alice.says(assigning, SENTENCE)
    said = alice.says(assigning, words, session_id=old["session_id"], client_turn_id="refusal")
    assert alice.says(assigning, words, session_id=old["session_id"], client_turn_id="refusal") == said
    shown = alice.api.get(f"/api/turns/{old['turn_id']}").json()["action"]
    assert (shown["status"], shown["result_turn_id"]) == ("declined", said["turn_id"])
    assert not WorkTask.objects.exists()


@pytest.mark.parametrize("what", ["another manager", "account switched off"])
def test_a_permission_that_has_gone_meanwhile_is_told_and_nothing_is_created(
    cast: Cast, assigning: Flow, what: str
) -> None:
    """P6: checked again at the click."""
    alice, bob = cast["alice"], cast["bob"]
    action = alice.says(assigning, "给王小明派个任务：交季度报告")["action"]
    if what == "another manager":
        report_to(bob.user, cast["grace"].user)
    else:
        User.objects.filter(pk=bob.user.pk).update(is_active=False)
    result = answer(alice, action, assignee=bob.user.pk)
    assert result["status"] == "complete"
    assert "没有创建任务" in result["output"]
    assert not WorkTask.objects.exists()


def test_the_one_who_is_given_work_finds_it_at_once_and_their_next_chat_knows_it(
    cast: Cast, assigning: Flow, model: ModelServer, settings: Any
) -> None:
    """P6: with the plugin that tells a model what a person has to do."""
    settings.FLOW_PLUGINS = [*settings.FLOW_PLUGINS, "flows.plugins.work_context.WorkContext"]
    alice, bob = cast["alice"], cast["bob"]
    answer(alice, alice.says(assigning, "给王小明派个任务：交季度报告")["action"])
    tasks = bob.api.get("/api/tasks", params={"assignee": "me"}).json()["results"]
    assert [task["title"] for task in tasks] == ["交季度报告"]
    model.enqueue(Answer("季度报告。"))
    bob.says(make_flow(), "我今天要做什么？")
    assert "交季度报告 | 张岚" in model.chats[-1].body["messages"][-1]["content"]


def test_a_task_for_oneself(cast: Cast, assigning: Flow) -> None:
    carol = cast["carol"]
    UserProfile.objects.filter(pk=carol.user.pk).update(time_zone="UTC")
    card = carol.says(assigning, "提醒我明天下午三点给客户回电话")["action"]["card"]
    assert card["assignee"]["user_id"] == carol.user.pk
    assert card["title"] == "给客户回电话"
    assert card["due_at"].endswith("T15:00:00Z")
