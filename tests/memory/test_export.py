"""L9: everything that is held about a person, as one download of their own."""

import json
import tracemalloc
from typing import Any

from django.utils import timezone

from flows.models import Flow
from llm.types import Usage
from memory.export import SCHEMA_VERSION, pieces
from memory.manager import MemoryManager
from memory.models import Conversation, JobKind, Turn
from memory.spending import spent
from profiles.models import WorkTask
from tests.doubles import ModelServer
from tests.factories import ConversationFactory, TurnFactory, UserFactory
from tests.memory.memories import remembered
from tests.people import Person


def exported(person: Person) -> dict[str, Any]:
    response = person.api.get("/api/memory/export")
    assert response.status_code == 200
    return dict(json.loads(response.content))


def test_it_holds_what_a_person_said_and_what_was_made_of_it(bob: Person, flow: Flow, model: ModelServer) -> None:
    told = bob.says(flow, "北斗项目由李娜负责。", inputs={})
    session = Conversation.objects.get(pk=told["session_id"])
    Conversation.objects.filter(pk=session.pk).update(summary="谈了北斗。")
    bob.api.post(f"/api/turns/{told['turn_id']}/feedback", json={"rating": "up", "reason": "有用"})
    bob.api.put(f"/api/flows/{flow.pk}/favourite")
    MemoryManager().share_session(bob.user, session.pk)
    spent(bob.user.pk, JobKind.EPISODE, Usage(7, 3))
    episode = remembered(bob.user, "北斗项目由李娜负责。", conversation=session)
    WorkTask.objects.create(title="写周报", assignee=bob.user, creator=bob.user)
    document = exported(bob)
    assert (document["schema_version"], document["settings"]["memory_enabled"]) == (SCHEMA_VERSION, True)
    (said,) = document["sessions"]
    assert (said["session_id"], said["summary"], said["flow_name"]) == (told["session_id"], "谈了北斗。", flow.name)
    (turn,) = said["turns"]
    assert (turn["input"], turn["output"], turn["status"]) == ("北斗项目由李娜负责。", told["output"], "complete")
    assert (turn["rating"], turn["rating_reason"]) == ("up", "有用")
    (memory,) = document["episodes"]
    assert (memory["id"], memory["turn_ids"], memory["status"]) == (str(episode.pk), [told["turn_id"]], "active")
    assert (memory["origin"], memory["summary"]) == ("extracted", "北斗项目由李娜负责。")
    assert "李娜" in {entity["name"] for entity in document["entities"]}
    assert {relation["target"] for relation in document["relations"]} <= set(memory["entities"])
    assert document["relations"][0]["episode_ids"] == [str(episode.pk)]
    assert [share["session_id"] for share in document["shared_links"]] == [told["session_id"]]
    assert [(use["kind"], use["prompt_tokens"]) for use in document["token_use"]] == [("episode", 7)]
    assert [mark["flow_id"] for mark in document["favourites"]] == [flow.pk]
    assert (document["profile"]["display_name"], document["account"]["username"]) == ("王小明", "bob")
    assert [task["title"] for task in document["tasks"]] == ["写周报"]
    assert len(document["api_keys"]) == 1


def test_it_is_a_download_with_times_in_utc_and_nothing_escaped(bob: Person, flow: Flow, model: ModelServer) -> None:
    """43."""
    bob.says(flow, "你好😀")
    response = bob.api.get("/api/memory/export")
    assert "你好😀" in response.content.decode()
    assert "\\u" not in response.content.decode()
    assert response.headers["content-disposition"] == f'attachment; filename="tacit-{timezone.now():%Y-%m-%d}.json"'
    assert response.headers["content-type"] == "application/json"
    assert exported(bob)["sessions"][0]["created_at"].endswith("Z")


def test_nobody_else_is_in_it(bob: Person, carol: Person, flow: Flow, model: ModelServer) -> None:
    """1, 2."""
    carol.says(flow, "金丝雀是我的")
    carol.api.put(f"/api/flows/{flow.pk}/favourite")
    remembered(carol.user, "金丝雀由赵敏负责。")
    bob.says(flow, "我的话")
    response = bob.api.get("/api/memory/export").text
    assert "我的话" in response
    assert not {word for word in ("金丝雀", "赵敏", "carol", "周可") if word in response}
    assert carol.api.get("/api/memory/export?user_id=1").status_code == 400


def test_a_person_of_whom_nothing_is_held_gets_the_same_shape(bob: Person, carol: Person, flow: Flow) -> None:
    empty = exported(bob)
    assert [empty[name] for name in ("sessions", "episodes", "entities", "relations", "token_use")] == [[]] * 5
    assert set(empty) == set(exported(carol))


def test_a_large_one_is_never_in_memory_at_once(transactional_db: None) -> None:
    user = UserFactory()
    conversation = ConversationFactory(user=user)
    rows = [
        Turn(
            conversation=conversation, user=user, flow_id=1, seq=2 * number + 1, input="问" * 100, output="答" * 20_000
        )
        for number in range(200)
    ]
    for turn in rows:
        turn.status = "complete"
    Turn.objects.bulk_create(rows)
    TurnFactory.reset_sequence()
    del rows, turn
    tracemalloc.start()
    size = sum(len(piece) for piece in pieces(user))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size > 12_000_000
    assert peak < size / 1.5
