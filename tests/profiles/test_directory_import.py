"""The directory from a CSV file: looked at first, all or nothing, the same twice as once (P8)."""

import io
import re

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from profiles import directory
from profiles.models import Department, UserProfile
from tests.factories import UserFactory

PAGE = "/admin/profiles/userprofile/import/"
HEADER = "username,display_name,department,position,manager,aliases\n"
FILE = (
    HEADER
    + "hua,华强,研发中心/后端组,工程师,lead,强子;阿强\nlead,林立,研发中心,主管,,\nbob,王小明,研发中心,,lead,小明\n"
)

pytestmark = pytest.mark.django_db


def state() -> dict[str, tuple[str, str, str, list[str]]]:
    profiles = UserProfile.objects.select_related("user", "department", "manager")
    return {
        p.user.username: (p.display_name, p.department_name, p.manager.username if p.manager else "", p.aliases)
        for p in profiles
    }


def lines(text: str) -> list[int]:
    """Where the mistakes are."""
    return [problem.line for problem in directory.plan(text).problems]


def test_a_file_is_looked_at_before_anything_changes() -> None:
    plan = directory.plan(FILE)
    assert (plan.added, plan.changed, plan.unchanged) == (["hua", "lead", "bob"], [], 0)
    assert plan.departments == ["研发中心", "后端组"]
    assert not User.objects.exists()
    assert not Department.objects.exists()


def test_it_is_written_with_departments_managers_and_groups() -> None:
    """A manager may stand further down in the file."""
    assert not directory.apply(FILE).problems
    assert state() == {
        "hua": ("华强", "后端组", "lead", ["强子", "阿强"]),
        "lead": ("林立", "研发中心", "", []),
        "bob": ("王小明", "研发中心", "lead", ["小明"]),
    }
    hua = User.objects.get(username="hua")
    assert set(hua.groups.values_list("name", flat=True)) == {"后端组", "研发中心"}
    assert not hua.has_usable_password()


def test_the_same_file_twice_is_as_good_as_once() -> None:
    directory.apply(FILE)
    before = state()
    again = directory.plan(FILE)
    assert (again.added, again.changed, again.unchanged, again.departments) == ([], [], 3, [])
    directory.apply(FILE)
    assert state() == before


def test_a_column_that_is_left_out_changes_nothing_and_an_empty_cell_empties() -> None:
    directory.apply(FILE)
    directory.apply("username,display_name,aliases\nhua,华强,\n")
    assert state()["hua"] == ("华强", "后端组", "lead", [])


def test_a_line_may_be_turned_round() -> None:
    """On the way there both would stand below each other."""
    directory.apply("username,display_name,manager\na,甲,\nb,乙,a\n")
    assert not directory.apply("username,display_name,manager\na,甲,b\nb,乙,\n").problems
    assert (state()["a"][2], state()["b"][2]) == ("b", "")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", [1, 1]),
        ("username\nbob\n", [1]),
        ("username,display_name,salary\nbob,王小明,1\n", [1]),
        ("username,display_name,username\nbob,王小明,bob\n", [1]),
        ("username,display_name\nbob\n", [2]),
        ("username,display_name\nbob,\n", [2]),
        ("username,display_name\nbob,王小明\n\nbob,李小明\n", [4]),
        ("username,display_name\nb b,王小明\n", [2]),
        ("username,display_name,manager\nbob,王小明,nobody\n", [2]),
        ("username,display_name,manager\nbob,王小明,bob\n", [2]),
        ("username,display_name,manager\na,甲,b\nb,乙,c\nc,丙,a\nd,丁,a\n", [2, 3, 4]),
        ("username,display_name,time_zone\nbob,王小明,Mars\n", [2]),
        ("username,display_name,email\nbob,王小明,x\n", [2]),
        (f"username,display_name\nbob,{'王' * 81}\n", [2]),
        (f"username,display_name,aliases\nbob,王小明,{'王' * 41};x\n", [2]),
        ('username,display_name\nbob,"王小明\n', [2]),
    ],
)
def test_a_mistake_is_told_by_its_line_and_nothing_is_written(text: str, where: list[int]) -> None:
    assert lines(text) == where
    assert directory.apply(text).problems
    assert not User.objects.exists()
    assert not Department.objects.exists()


def test_a_circle_through_people_whom_the_file_does_not_name_is_found() -> None:
    directory.apply("username,display_name,manager\na,甲,\nb,乙,a\nc,丙,b\n")
    assert lines("username,display_name,manager\na,甲,c\n") == [2]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_files_of_spreadsheets_are_read(encoding: str, delimiter: str) -> None:
    """Excel in Chinese saves GBK."""
    text = "username,display_name,position\r\nbob,王小明,工程师\r\n".replace(",", delimiter)
    assert not directory.apply(directory.decoded(text.encode(encoding))).problems
    assert state()["bob"][0] == "王小明"


def upload(client: Client, text: str) -> str:
    file = io.BytesIO(text.encode())
    file.name = "people.csv"
    return client.post(PAGE, {"file": file}).content.decode()


def test_the_page_shows_first_and_writes_then(root: Client) -> None:
    html = upload(root, FILE)
    assert not UserProfile.objects.exists()
    hidden = re.search(r'name="text" value="([^"]*)"', html)
    assert hidden
    assert root.post(PAGE, {"text": hidden[1], "apply": "yes"}).status_code == 302
    assert len(state()) == 3
    again = upload(root, FILE)
    assert "已经都在了" in again
    assert 'name="apply"' not in again


def test_the_page_tells_mistakes_by_line(root: Client) -> None:
    html = upload(root, HEADER + "bob,王小明,,,nobody,\n")
    assert re.search(r"第 2 行", html)
    assert "nobody" in html
    assert 'name="apply"' not in html


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00\x80\xff", b"x" * (directory.MOST_BYTES + 1)])
def test_what_is_no_file_of_people_is_refused(root: Client, content: bytes) -> None:
    file = io.BytesIO(content)
    file.name = "people.csv"
    answer = root.post(PAGE, {"file": file})
    assert answer.status_code == 200
    assert 'role="alert"' in answer.content.decode()


def test_whoever_sees_the_directory_does_not_import_it(client: Client) -> None:
    clerk = UserFactory(is_staff=True)
    clerk.user_permissions.add(Permission.objects.get(codename="view_userprofile"))
    client.force_login(clerk)
    assert client.post(PAGE, {"text": FILE, "apply": "yes"}).status_code == 403
    assert PAGE not in client.get("/admin/profiles/userprofile/").content.decode()
    assert not UserProfile.objects.exists()
