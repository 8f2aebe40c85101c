"""P1, P2, P4: a profile over REST: everything for its owner, and for managers what they may see."""

from typing import Any

import pytest

from llm.models import ProviderProfile
from memory.remembering import remember
from profiles.aggregation import aggregate
from profiles.models import Figures, Look, ProfileTag, Sight, TagKind, TagStatus, UserProfile, tag_key
from tests.people import Person
from tests.profiles.conftest import Cast
from tests.profiles.organisation import report_to

OWN = "/api/memory/profile"
P1 = {
    *("user_id", "display_name", "department_name", "position", "manager", "aliases", "time_zone", "role_tags"),
    *("total_conversations", "total_workflows_used", "favorite_workflows", "preferred_work_hours", "work_style_tags"),
    *("common_topics", "expertise_areas", "total_tasks_assigned", "total_tasks_created", "avg_task_completion_h"),
    *("task_completion_rate", "preferred_llm_model", "preferred_language", "communication_tone", "profile_version"),
    *("last_updated_at", "last_conversation_at", "created_at"),
}


def noticed(person: Person, kind: str, value: str, status: str = TagStatus.SUGGESTED, **fields: Any) -> ProfileTag:
    """A tag with a memory behind it."""
    tag = ProfileTag.objects.create(
        user=person.user, kind=kind, value=value, key=tag_key(value), status=status, **fields
    )
    tag.evidence.add(remember(person.user, f"记得{value}。"))
    return tag


def own(person: Person) -> dict[str, Any]:
    response = person.api.get(OWN)
    assert response.status_code == 200, response.text
    return response.json()


def test_ones_own_profile_has_every_field(cast: Cast) -> None:
    tag = noticed(cast["bob"], TagKind.STYLE, "注重细节")
    noticed(cast["bob"], TagKind.TOPIC, "联调", count=3)
    profile = own(cast["bob"])
    assert set(profile) == P1 | {"sample_sizes"}
    evidence = [str(tag.evidence.get().pk)]
    assert profile["work_style_tags"] == [
        {"value": "注重细节", "status": "suggested", "shared": True, "evidence": evidence}
    ]
    assert (profile["common_topics"][0]["topic"], profile["common_topics"][0]["count"]) == ("联调", 3)
    assert (profile["preferred_language"], profile["task_completion_rate"]) == ("zh", None)
    assert (profile["manager"], profile["department_name"]) == (cast["alice"].user.pk, "研发中心")


def test_the_owner_sets_preferences_and_decides_on_tags(cast: Cast) -> None:
    bob = cast["bob"]
    ProviderProfile.objects.create(name="快", model="m", enabled=True)
    noticed(bob, TagKind.STYLE, "注重细节")
    noticed(bob, TagKind.EXPERTISE, "对账")
    noticed(bob, TagKind.TOPIC, "跳槽")
    body = {
        **{"display_name": "小王", "aliases": ["小明"], "time_zone": "Europe/Berlin", "preferred_llm_model": "快"},
        **{"preferred_language": "en", "communication_tone": "简短"},
        "work_style_tags": [{"value": "注重细节", "status": "confirmed"}],
        "expertise_areas": [{"value": "对账", "status": "confirmed", "shared": False}],
        "common_topics": [{"value": "跳槽", "status": "rejected"}],
    }
    changed = bob.api.patch(OWN, json=body)
    assert changed.status_code == 200, changed.text
    profile = own(bob)
    assert changed.json() == profile
    assert {name: profile[name] for name in list(body)[:6]} == {name: body[name] for name in list(body)[:6]}
    for name, status, shared in (
        ("work_style_tags", "confirmed", True),
        ("expertise_areas", "confirmed", False),
        ("common_topics", "rejected", True),
    ):
        assert (profile[name][0]["status"], profile[name][0]["shared"]) == (status, shared)
    assert profile["profile_version"] == 1
    bob.api.patch(OWN, json=body)
    assert own(bob)["profile_version"] == 1, "nothing changed"
    bob.api.patch(OWN, json={"communication_tone": ""})
    assert own(bob)["profile_version"] == 2


@pytest.mark.parametrize(
    "body",
    [
        {"position": "总裁"},
        {"total_tasks_assigned": 9},
        {"user_id": 1},
        {"manager": None},
        {"role_tags": ["x"]},
        {"time_zone": "Mars/Olympus"},
        {"preferred_llm_model": "没有"},
        {"preferred_language": "fr"},
        {"work_style_tags": [{"value": "注重细节", "status": "great"}]},
        {"work_style_tags": [{"value": "注重细节", "evidence": []}]},
    ],
)
def test_other_fields_and_values_are_refused(cast: Cast, body: dict[str, Any]) -> None:
    noticed(cast["bob"], TagKind.STYLE, "注重细节")
    before = own(cast["bob"])
    assert cast["bob"].api.patch(OWN, json=body).status_code == 400
    assert own(cast["bob"]) == before


def test_a_tag_of_somebody_else_is_none(cast: Cast) -> None:
    """All or nothing: what stood beside it is not kept."""
    noticed(cast["dan"], TagKind.STYLE, "注重细节")
    body = {"communication_tone": "简短", "work_style_tags": [{"value": "注重细节", "status": "confirmed"}]}
    assert cast["bob"].api.patch(OWN, json=body).status_code == 404
    assert own(cast["bob"])["communication_tone"] == ""
    assert ProfileTag.objects.get().status == TagStatus.SUGGESTED


def test_a_manager_sees_directory_work_and_what_is_confirmed_and_shared(cast: Cast) -> None:
    bob = cast["bob"]
    noticed(bob, TagKind.STYLE, "注重细节", TagStatus.CONFIRMED)
    noticed(bob, TagKind.EXPERTISE, "不给看", TagStatus.CONFIRMED, shared=False)
    noticed(bob, TagKind.EXPERTISE, "只是建议")
    noticed(bob, TagKind.TONE, "说话要客气", TagStatus.CONFIRMED)
    noticed(bob, TagKind.TOPIC, "联调", TagStatus.CONFIRMED, count=3)
    noticed(bob, TagKind.TOPIC, "跳槽", TagStatus.REJECTED)
    aggregate()
    Figures.objects.filter(pk=bob.user.pk).update(preferred_work_hours=[23])
    UserProfile.objects.filter(pk=bob.user.pk).update(communication_tone="说话要客气")
    for manager in ("alice", "grace"):
        seen = cast[manager].api.get(f"{OWN}/{bob.user.pk}")
        assert seen.status_code == 200
        body = seen.json()
        assert set(body) == P1 - {
            *("time_zone", "total_conversations", "preferred_work_hours", "last_conversation_at", "created_at"),
            *("preferred_llm_model", "preferred_language", "communication_tone", "profile_version", "last_updated_at"),
        } | {"sample_sizes"}
        assert body["work_style_tags"] == [{"value": "注重细节"}]
        assert (body["expertise_areas"], body["common_topics"]) == ([], [{"topic": "联调", "count": 3}])
        for hidden in ("不给看", "只是建议", "客气", "跳槽", "evidence", "23"):
            assert hidden not in seen.text


def test_each_look_is_noted_and_others_see_nothing(cast: Cast) -> None:
    bob = cast["bob"]
    address = f"{OWN}/{bob.user.pk}"
    for name in ("carol", "dan", "bob"):
        refused = cast[name].api.get(address)
        missing = cast[name].api.get(f"{OWN}/999999")
        assert (refused.status_code, refused.json()) == (404, missing.json()), name
    assert not Look.objects.exists()
    assert cast["alice"].api.get(address).status_code == 200
    assert list(Look.objects.at(bob.user).values_list("viewer", "sight")) == [(cast["alice"].user.pk, Sight.PROFILE)]
    report_to(bob.user, cast["carol"].user)
    assert cast["alice"].api.get(address).status_code == 404
    assert cast["carol"].api.get(address).status_code == 200
