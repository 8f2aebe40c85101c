"""The profile page, as the server renders it: what is known, decisions, and exactly what a manager sees (P1–P4)."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from profiles.aggregation import aggregate
from profiles.manager_view import as_manager_sees
from profiles.models import Look, ProfileTag, Sight, TagKind, TagStatus
from tests.people import Person
from tests.profiles.organisation import report_to
from tests.profiles.test_figures import done_after, use
from tests.profiles.test_profile_api import noticed
from tests.profiles.test_tasks_page import browser

PAGE = "/profile/"


def body(client: Client) -> str:
    response = client.get(PAGE)
    assert response.status_code == 200
    return response.content.decode()


def section(page: str, name: str) -> str:
    """The words of one section."""
    found = re.search(rf'<section aria-labelledby="{name}".*?</section>', page, re.DOTALL)
    assert found, name
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", found[0]))


def tag(user: User, kind: str, value: str, status: str = TagStatus.SUGGESTED, **fields: Any) -> ProfileTag:
    return noticed(Person(user, ""), kind, value, status, **fields)


@pytest.fixture
def bob(people: dict[str, User]) -> User:
    return people["bob"]


def test_figures_come_with_their_samples_and_nothing_is_no_per_cent(people: dict[str, User], bob: User) -> None:
    aggregate()
    empty = section(body(browser(bob)), "counted")
    assert empty.count("数据不足") == 3
    assert "%" not in empty
    done_after(people["alice"], bob, 5)
    for _ in range(3):
        use(bob, 7, "任务分配")
    aggregate()
    counted = section(body(browser(bob)), "counted")
    for words in ("100%", "共 1 个任务", "5.0 小时", "任务分配", "3 次"):
        assert words in counted


def test_suggestions_are_confirmed_rejected_withheld_and_corrected(bob: User) -> None:
    client = browser(bob)
    for value in ("一", "二", "三", "四"):
        tag(bob, TagKind.STYLE, value)
    said: tuple[dict[str, str], ...] = (
        {"value": "一", "action": "accept"},
        {"value": "二", "action": "accept_alone"},
        {"value": "三", "action": "reject"},
        {"value": "四", "words": "先想后做"},
    )
    for fields in said:
        assert client.post("/profile/tags/", {"kind": "style"} | fields).status_code == 302
    stands = {tag.value: (tag.status, tag.shared) for tag in ProfileTag.objects.of(bob)}
    assert stands == {
        "一": ("confirmed", True),
        "二": ("confirmed", False),
        "三": ("rejected", True),
        "四": ("rejected", True),
        "先想后做": ("confirmed", True),
    }
    client.post("/profile/tags/", {"kind": "style", "value": "一", "action": "withhold"})
    client.post("/profile/tags/", {"kind": "style", "value": "二", "action": "share"})
    assert {tag["value"] for tag in as_manager_sees(bob)["work_style_tags"]} == {"二", "先想后做"}


@pytest.mark.parametrize(
    "fields", [{}, {"value": "一"}, {"value": "一", "action": "x"}, {"value": "一", "action": "accept", "kind": "x"}]
)
def test_a_form_that_says_nothing_changes_nothing(bob: User, fields: dict[str, str]) -> None:
    tag(bob, TagKind.STYLE, "一")
    assert browser(bob).post("/profile/tags/", {"kind": "style"} | fields).status_code == 404
    assert ProfileTag.objects.get().status == TagStatus.SUGGESTED


def test_the_tags_of_somebody_else_are_out_of_reach(people: dict[str, User], bob: User) -> None:
    tag(bob, TagKind.STYLE, "有条有理")
    stranger = browser(people["dan"])
    answer = stranger.post("/profile/tags/", {"kind": "style", "value": "有条有理", "action": "accept"}, follow=True)
    assert "没有这个标签" in answer.content.decode()
    assert "有条有理" not in body(stranger)
    assert ProfileTag.objects.get().status == TagStatus.SUGGESTED


def test_evidence_leads_to_the_memory(bob: User) -> None:
    noted = tag(bob, TagKind.STYLE, "注重细节")
    assert f"/memory/?memory={noted.evidence.get().pk}" in body(browser(bob))
    noted.status = TagStatus.CONFIRMED
    noted.save()
    noted.evidence.all().delete()
    assert "所依据的记忆已被清除" in body(browser(bob))


def test_what_my_manager_sees_is_exactly_that(people: dict[str, User], bob: User) -> None:
    tag(bob, TagKind.STYLE, "注重细节", TagStatus.CONFIRMED)
    tag(bob, TagKind.EXPERTISE, "不给看", TagStatus.CONFIRMED, shared=False)
    tag(bob, TagKind.TOPIC, "只是建议")
    tag(bob, TagKind.TONE, "说话客气", TagStatus.CONFIRMED)
    tag(bob, TagKind.TOPIC, "联调", TagStatus.CONFIRMED, count=3)
    for _ in range(3):
        use(bob, 7, "任务分配")
    done_after(people["alice"], bob, 5)
    aggregate()
    shown = section(body(browser(bob)), "manager-sees")
    for words in ("王小明", "研发中心", "张岚", "注重细节", "联调", "3 次", "任务分配", "100%", "5.0 小时"):
        assert words in shown, words
    for words in ("不给看", "只是建议", "客气", "记得", "时段"):
        assert words not in shown, words


def test_preferences_are_saved_and_mistakes_are_told(bob: User) -> None:
    client = browser(bob)
    said = {
        "display_name": "小王",
        "aliases": "小明，明哥, 小明",
        "time_zone": "Europe/Berlin",
        "communication_tone": "简短",
    }
    assert client.post("/profile/preferences/", said).status_code == 302
    bob.profile.refresh_from_db()
    assert (bob.profile.display_name, bob.profile.aliases) == ("小王", ["小明", "明哥"])
    assert (bob.profile.time_zone, bob.profile.communication_tone) == ("Europe/Berlin", "简短")
    wrong = client.post("/profile/preferences/", said | {"time_zone": "Mars/Olympus", "display_name": ""})
    assert wrong.status_code == 400
    assert wrong.content.decode().count('class="note" role="alert"') == 2


def test_who_looked_at_me_stands_there(people: dict[str, User], bob: User) -> None:
    Look.objects.record(people["alice"], [bob.pk], sight=Sight.PROFILE)
    looks = section(body(browser(bob)), "looks")
    assert "张岚" in looks
    assert "张岚" not in section(body(browser(people["dan"])), "looks")


def test_an_empty_page_says_what_would_be_there(people: dict[str, User]) -> None:
    report_to(people["dan"], None)
    page = body(browser(people["dan"], "en"))
    assert "attention to detail" in section(page, "noticed")
    assert "Nobody is your manager at present" in section(page, "manager-sees")
    assert "Nobody. Whoever looks" in section(page, "looks")


def test_the_shell_leads_there_and_an_account_without_a_profile_has_none(people: dict[str, User]) -> None:
    assert 'href="/profile/"' in browser(people["bob"]).get("/tasks/").content.decode()
    nobody = browser(User.objects.create(username="nobody"))
    assert 'href="/profile/"' not in nobody.get("/tasks/").content.decode()
    assert nobody.get(PAGE).status_code == 404
