"""L9: a person's memories through the API: listed, searched, written, edited, and the map of what they name."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memory.consolidation import consolidate_due_sessions
from memory.dead_letters import ask_for_retry, retry_due
from memory.deleting import delete
from memory.indexing import index_due_sessions
from memory.manager import MemoryManager
from memory.models import Conversation, DeadLetter, Entity, Episode, EpisodeStatus, Relation, Unit
from memory.remembering import remember
from memory.retention import archive_episodes
from tests.doubles import ModelServer
from tests.factories import ConversationFactory, TurnFactory
from tests.people import Person

LIST = "/api/memory/episodes"
FIELDS = {
    *("id", "title", "summary", "keywords", "importance", "status", "pinned", "origin", "session_id", "flow_id"),
    *("turn_ids", "occurred_from", "occurred_to", "created_at", "updated_at", "entities", "relations", "related"),
}


def talked(person: Person, *words: str, flow_id: int = 1) -> Conversation:
    """A session with these questions, indexed and consolidated without a model."""
    conversation: Conversation = ConversationFactory(user=person.user, flow_id=flow_id)
    for line in words:
        TurnFactory(conversation=conversation, input=line, output="好的。")
    Conversation.objects.filter(pk=conversation.pk).update(last_active_at=timezone.now() - timedelta(minutes=5))
    index_due_sessions()
    consolidate_due_sessions()
    return conversation


def memories(person: Person, **asked: Any) -> list[dict[str, Any]]:
    response = person.api.get(LIST, params=asked)
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["results"]
    return found


def summaries(person: Person, **asked: Any) -> set[str]:
    return {memory["summary"] for memory in memories(person, **asked)}


def test_a_memory_says_what_it_is_and_where_it_came_from(bob: Person) -> None:
    session = talked(bob, "北斗项目五月三日上线，由李娜负责。")
    (memory,) = memories(bob)
    assert set(memory) == FIELDS
    assert memory["session_id"] == str(session.pk)
    assert memory["turn_ids"] == [str(turn.pk) for turn in session.turns.all()]
    assert (memory["status"], memory["origin"], memory["pinned"]) == ("active", "extractive", False)
    assert {"李娜"} <= {entity["name"] for entity in memory["entities"]}
    assert {"id", "name", "type"} == set(memory["entities"][0])
    assert {"id", "source", "relation", "target", "valid_from", "invalid_at"} == set(memory["relations"][0])
    assert bob.api.get(f"{LIST}/{memory['id']}").json() == memory


def test_the_list_is_narrowed_by_words_flow_time_kind_and_name(bob: Person) -> None:
    talked(bob, "北斗项目五月三日上线，由李娜负责。", flow_id=7)
    remember(bob.user, "客户代号一律写成青松。", pinned=True)
    told, written = "北斗项目五月三日上线，由李娜负责。", "客户代号一律写成青松。"
    assert summaries(bob) == {told, written}
    assert summaries(bob, q="上线") == summaries(bob, q="李娜 上线") == summaries(bob, flow_id=7) == {told}
    assert summaries(bob, q="青松 上线") == set()
    assert summaries(bob, pinned="true") == summaries(bob, origin="manual") == {written}
    assert summaries(bob, entity=Entity.objects.get(name="李娜").pk) == {told}
    later = (timezone.now() + timedelta(days=1)).isoformat()
    assert summaries(bob, **{"from": later}) == set()
    assert summaries(bob, to=later) == {told, written}
    assert summaries(bob, status="archived") == set()


@pytest.mark.parametrize(
    "asked", [{"user_id": "1"}, {"status": "gone"}, {"from": "gestern"}, {"pinned": "perhaps"}, {"kind": "turn"}]
)
def test_a_filter_that_means_nothing_is_refused(bob: Person, asked: dict[str, str]) -> None:
    refused = bob.api.get(LIST, params=asked)
    assert (refused.status_code, refused.json()["errors"][0]["attr"]) == (400, next(iter(asked)))


def test_a_page_costs_as_many_queries_however_many_memories_it_has(bob: Person) -> None:
    def queries() -> int:
        browser = Client()
        browser.force_login(bob.user)
        browser.get(LIST)
        with CaptureQueriesContext(
            connection,
        ) as captured:
            assert browser.get(LIST).status_code == 200
        return len(captured)

    talked(bob, "北斗项目五月三日上线，由李娜负责。")
    few = queries()
    for number in range(8):
        talked(bob, f"北斗项目第{number}周例会由李娜主持，单号 AB-12{number}。")
    assert queries() == few


def test_pages_follow_one_another(bob: Person) -> None:
    for number in range(5):
        remember(bob.user, f"第 {number} 条规矩。", pinned=False)
    page = bob.api.get(LIST, params={"limit": 2}).json()
    seen = page["results"]
    while page["next"]:
        page = bob.api.get(page["next"]).json()
        seen += page["results"]
    assert [memory["summary"] for memory in seen] == [f"第 {number} 条规矩。" for number in range(4, -1, -1)]


def test_memories_of_different_conversations_are_related_by_the_names_they_share(bob: Person, carol: Person) -> None:
    talked(bob, "北斗项目五月三日上线，由李娜负责。")
    talked(bob, "李娜十二月六日去深圳签合同，单号 AB-1203。")
    talked(carol, "李娜是我们的供应商联系人。")
    remember(bob.user, "午饭不吃辣。")
    by_text = {memory["summary"]: memory for memory in memories(bob)}
    first, second = (by_text[text] for text in sorted(by_text) if "李娜" in text)
    assert (first["related"], second["related"]) == ([second["id"]], [first["id"]])
    assert by_text["午饭不吃辣。"]["related"] == []


def test_a_sentence_is_remembered_by_hand_redacted_and_once(bob: Person) -> None:
    made = bob.api.post(LIST, json={"summary": "测试密钥是 sk-abcdefghijklmnopqrstuv，别外传。", "pinned": True})
    assert made.status_code == 201, made.text
    memory = made.json()
    assert (memory["origin"], memory["pinned"], memory["session_id"]) == ("manual", True, None)
    assert "sk-abc" not in made.text
    again = bob.api.post(LIST, json={"summary": memory["summary"]})
    assert (again.status_code, again.json()["id"]) == (200, memory["id"])
    assert bob.api.post(LIST, json={"summary": "  "}).status_code == 400
    assert bob.api.post(LIST, json={"summary": "好", "user_id": 1}).json()["errors"][0]["attr"] == "user_id"


def test_a_correction_is_found_instead_of_what_was_wrong(bob: Person) -> None:
    talked(bob, "北斗项目五月三日上线，由李娜负责。")
    (memory,) = memories(bob)
    changed = bob.api.patch(
        f"{LIST}/{memory['id']}", json={"summary": "北斗项目五月十日上线，由王芳负责，密码是 hunter2hunter2。"}
    )
    assert changed.status_code == 200, changed.text
    assert "hunter2" not in changed.text
    names = {entity["name"] for entity in changed.json()["entities"]}
    assert "王芳" in names
    assert "李娜" not in names
    assert not Entity.objects.filter(name="李娜").exists()
    assert "王芳" in Unit.objects.get(kind="episode").text
    context = MemoryManager().retrieve_memory(bob.user, "北斗项目谁负责？")
    assert ["五月十日" in hit.text for hit in context.hits] == [True]


def test_no_job_overwrites_what_was_corrected(bob: Person, model: ModelServer) -> None:
    session = talked_into_a_dead_letter(bob, model)
    (memory,) = memories(bob)
    bob.api.patch(f"{LIST}/{memory['id']}", json={"summary": "五月十日上线。", "importance": 2})
    ask_for_retry(DeadLetter.objects.filter(conversation=session))
    retry_due()
    long_ago = timezone.now() - timedelta(days=400)
    Episode.objects.update(occurred_to=long_ago, updated_at=long_ago)
    archive_episodes()
    assert [(row["summary"], row["importance"], row["status"]) for row in memories(bob)] == [
        ("五月十日上线。", 2, "active")
    ]


def talked_into_a_dead_letter(person: Person, model: ModelServer) -> Conversation:
    """A session of which there is an extractive episode, and a letter that asks for a better one."""
    session = talked(person, "北斗项目五月三日上线，由李娜负责。")
    episode = Episode.objects.first() or remember(person.user, "北斗项目五月三日上线。")
    Episode.objects.filter(pk=episode.pk).update(origin="extractive")
    DeadLetter.objects.create(user=person.user, conversation=session, from_seq=1, to_seq=2, error="truncated")
    return session


def test_two_memories_never_say_the_same(bob: Person) -> None:
    remember(bob.user, "周报写三段。")
    other = remember(bob.user, "周报写五段。")
    refused = bob.api.patch(f"{LIST}/{other.pk}", json={"summary": "周报写三段！", "pinned": False})
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (409, "says_the_same")
    other.refresh_from_db()
    assert (other.summary, other.pinned) == ("周报写五段。", True)


def test_a_memory_rests_and_is_taken_up_again(bob: Person) -> None:
    memory = remember(bob.user, "周报写三段。")
    address = f"{LIST}/{memory.pk}"
    assert bob.api.patch(address, json={"status": "archived"}).json()["status"] == "archived"
    assert MemoryManager().retrieve_memory(bob.user, "周报写几段？").hits == []
    assert summaries(bob, status="archived") == {"周报写三段。"}
    assert bob.api.patch(address, json={"status": "active"}).json()["status"] == "active"
    assert MemoryManager().retrieve_memory(bob.user, "周报写几段？").hits != []
    memory.refresh_from_db()
    assert not memory.edited


@pytest.mark.parametrize(
    "change",
    [{"importance": 6}, {"status": "merged"}, {"origin": "said"}, {"title": ""}, {"summary": " "}, {"keywords": "a"}],
)
def test_a_change_that_means_nothing_is_refused(bob: Person, change: dict[str, Any]) -> None:
    memory = remember(bob.user, "周报写三段。")
    refused = bob.api.patch(f"{LIST}/{memory.pk}", json=change)
    assert (refused.status_code, refused.json()["errors"][0]["attr"]) == (400, next(iter(change)))


def test_nobody_reaches_the_memory_of_another(bob: Person, carol: Person) -> None:
    memory = remember(bob.user, "周报写三段。")
    for method, body in (("GET", None), ("PATCH", {"pinned": False}), ("DELETE", None)):
        assert carol.api.request(method, f"{LIST}/{memory.pk}", json=body).status_code == 404
    assert memories(carol) == []
    assert carol.api.get("/api/memory/graph").json() == {"nodes": [], "edges": []}


def test_the_map_weighs_names_by_the_memories_that_have_them(bob: Person) -> None:
    talked(bob, "北斗项目五月三日上线，由李娜负责。")
    talked(bob, "李娜十二月六日去深圳签合同，单号 AB-1203。")
    graph = bob.api.get("/api/memory/graph").json()
    weights = {node["name"]: node["weight"] for node in graph["nodes"]}
    assert (weights["李娜"], weights["深圳"]) == (2, 1)
    ids = {node["id"] for node in graph["nodes"]}
    assert graph["edges"]
    for edge in graph["edges"]:
        assert {edge["source"], edge["target"]} <= ids
        assert edge["episode_ids"]
    near = bob.api.get("/api/memory/graph", params={"q": "深圳"}).json()
    assert {"深圳", "李娜"} <= {node["name"] for node in near["nodes"]} < {node["name"] for node in graph["nodes"]}


def test_the_map_leaves_out_what_is_being_deleted(bob: Person) -> None:
    talked(bob, "北斗项目五月三日上线，由李娜负责。")
    delete(bob.user, Episode.objects.get().pk)
    assert bob.api.get("/api/memory/graph").json() == {"nodes": [], "edges": []}


def test_a_relation_ends_when_its_owner_says_so(bob: Person, carol: Person) -> None:
    talked(bob, "北斗项目五月三日上线，由李娜负责。")
    relation = Relation.objects.first()
    assert relation
    address = f"/api/memory/relations/{relation.pk}"
    ended = bob.api.patch(address, json={"invalid_at": "2099-01-01T00:00:00Z"})
    assert (ended.status_code, ended.json()["invalid_at"]) == (200, "2099-01-01T00:00:00Z")
    assert bob.api.patch(address, json={"invalid_at": "1999-01-01T00:00:00Z"}).status_code == 400
    assert bob.api.patch(address, json={"relation": "认识"}).json()["errors"][0]["attr"] == "relation"
    assert carol.api.patch(address, json={"invalid_at": None}).status_code == 404
    assert bob.api.patch(address, json={"invalid_at": None}).json()["invalid_at"] is None


def test_a_merged_memory_comes_back_on_its_own(bob: Person) -> None:
    first = remember(bob.user, "周报写三段。")
    second = remember(bob.user, "周报写三段。")
    assert second.status == EpisodeStatus.MERGED
    address = f"{LIST}/{second.pk}"
    assert bob.api.patch(address, json={"status": "archived"}).json()["errors"][0]["code"] == "memory_not_active"
    assert bob.api.patch(address, json={"status": "active"}).json()["errors"][0]["code"] == "says_the_same"
    bob.api.patch(f"{LIST}/{first.pk}", json={"summary": "周报写五段。"})
    assert bob.api.patch(address, json={"status": "active"}).json()["status"] == "active"
