"""Whom a name means (P6): among those the speaker may give work to, and never by guessing."""

import pytest
from django.contrib.auth.models import User

from profiles.models import UserProfile
from profiles.naming import people_in, person_called
from tests.factories import UserFactory
from tests.profiles.organisation import report_to


@pytest.fixture
def team(people: dict[str, User]) -> dict[str, User]:
    """With nicknames, and with names that are hard to read."""
    for name, aliases in {"bob": ["小明"], "dan": ["大明"], "erin": ["晓晓", "Cherry"]}.items():
        UserProfile.objects.filter(user=people[name]).update(aliases=aliases)
    for username, display_name in (("zeng", "曾乐"), ("lv", "吕布韦"), ("ou", "欧阳静怡"), ("kim", "Kim O'Hara")):
        people[username] = UserFactory(username=username)
        UserProfile.objects.create(user=people[username], display_name=display_name)
        report_to(people[username], people["alice"])
    return people


def called(name: str, speaker: User) -> set[str]:
    return {person.user.username for person in person_called(name, speaker).people}


def said(sentence: str, speaker: User) -> set[str]:
    return {person.user.username for person in people_in(sentence, speaker).people}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("王小明", {"bob"}),
        ("小明", {"bob", "dan"}),
        ("李小明", {"dan"}),
        ("大明", {"dan"}),
        ("陈晓", {"erin"}),
        ("晓晓", {"erin"}),
        ("cherry", {"erin"}),
        ("ＣＨＥＲＲＹ", {"erin"}),
        ("wangxiaoming", {"bob"}),
        ("Wang Xiaoming", {"bob"}),
        ("xiaoming wang", {"bob"}),
        ("xiaoming", {"bob", "dan"}),
        ("xiao ming", {"bob", "dan"}),
        ("XM", {"bob", "dan"}),
        ("wxm", {"bob"}),
        ("erin", {"erin"}),
        ("zengle", {"zeng"}),
        ("zengyue", {"zeng"}),
        ("lvbuwei", {"lv"}),
        ("lubuwei", {"lv"}),
        ("静怡", {"ou"}),
        ("jingyi", {"ou"}),
        ("ouyangjingyi", {"ou"}),
        ("kim", {"kim"}),
        ("Kim O'Hara", {"kim"}),
        ("张岚", {"alice"}),
        ("我", {"alice"}),
        ("myself", {"alice"}),
        ("", set()),
        ("明", set()),
        ("张小明", set()),
        ("小", set()),
        ("xiao", set()),
        ("%", set()),
        ("*", set()),
    ],
)
def test_a_name_means_everybody_whom_it_fits(team: dict[str, User], name: str, meant: set[str]) -> None:
    """P6: exact, part of the name, nickname, pinyin, initials; case and width alike."""
    assert called(name, team["alice"]) == meant


@pytest.mark.parametrize(
    ("sentence", "meant"),
    [
        ("给小明派个任务，下周五前交季度报告", {"bob", "dan"}),
        ("给王小明派个任务", {"bob"}),
        ("请陈晓在月底前把登录页改好", {"erin"}),
        ("让 xiaoming 看一下", {"bob", "dan"}),
        ("assign this to Wang Xiaoming by Friday", {"bob"}),
        ("ask Cherry to review it", {"erin"}),
        ("给王小明和陈晓各派一个", {"bob", "erin"}),
        ("给张小明派个任务", set()),
        ("给欧阳小明派个任务", set()),
        ("向小明要报告", {"bob", "dan"}),
        ("给周可派个任务", set()),
        ("给我自己记一个任务", {"alice"}),
        ("派给我", {"alice"}),
        ("给我派个任务", {"alice"}),
        ("交季度报告", set()),
        ("wxmart 的合同", set()),
        ("", set()),
    ],
)
def test_a_sentence_names_people(team: dict[str, User], sentence: str, meant: set[str]) -> None:
    """P6."""
    assert said(sentence, team["alice"]) == meant


def test_one_is_only_who_cannot_be_mistaken(team: dict[str, User]) -> None:
    alice = team["alice"]
    assert person_called("小明", alice).one is None
    assert person_called("周可", alice).one is None
    bob = person_called("王小明", alice).one
    assert bob
    assert bob.user == team["bob"]


def test_two_of_the_same_name_are_two(team: dict[str, User]) -> None:
    second = UserFactory(username="bob2")
    UserProfile.objects.create(user=second, display_name="王小明")
    report_to(second, team["alice"])
    assert called("王小明", team["alice"]) == {"bob", "bob2"}


@pytest.mark.parametrize("name", ["小明", "王小明", "bob", "wxm", "xiaoming"])
@pytest.mark.parametrize("speaker", ["carol", "erin", "frank"])
def test_nobody_out_of_reach_is_ever_named(team: dict[str, User], name: str, speaker: str) -> None:
    """P6: not to peers and not to strangers."""
    assert called(name, team[speaker]) == said(f"给{name}派个任务", team[speaker]) == set()


def test_whoever_cannot_log_in_is_not_named(team: dict[str, User]) -> None:
    User.objects.filter(username="bob").update(is_active=False)
    assert called("小明", team["alice"]) == {"dan"}
