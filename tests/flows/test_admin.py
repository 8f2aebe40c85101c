"""A flow's card in the admin (F7): texts in both languages, a symbol, the groups that may use it; versions to read."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from flows.models import Flow
from tests.factories import UserFactory, make_flow

pytestmark = pytest.mark.django_db

FORM: dict[str, Any] = {
    "name": "周报生成",
    "description": "把一周理清楚。",
    "starters": "写本周周报\n\n  按项目汇总  \n",
    "name_en": "Weekly report",
    "description_en": "",
    "starters_en": "Write my report",
    "icon": "report",
    "category": "writing",
    "versions-TOTAL_FORMS": 0,
    "versions-INITIAL_FORMS": 0,
}


@pytest.fixture
def root(root: Client) -> Client:
    root.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    return root


@pytest.fixture
def flow() -> Flow:
    return make_flow(translations={"ja": {"name": "週報"}})


@pytest.fixture
def page(flow: Flow) -> str:
    return reverse("admin:flows_flow_change", args=[flow.pk])


def test_both_languages_are_edited_on_one_page(root: Client, flow: Flow, page: str) -> None:
    assert root.post(page, FORM).status_code == 302
    flow.refresh_from_db()
    assert flow.starters == ["写本周周报", "按项目汇总"]
    assert flow.translations == {
        "ja": {"name": "週報"},
        "en": {"name": "Weekly report", "starters": ["Write my report"]},
    }
    with override("en"):
        assert flow.shown() == {
            "name": "Weekly report",
            "description": "把一周理清楚。",
            "starters": ["Write my report"],
        }
    shown = root.get(page).content.decode()
    assert "Weekly report" in shown
    assert "写本周周报\n按项目汇总" in shown


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"starters": "\n".join("abcdefg")}, "Give at most 6 prompts."),
        ({"starters_en": "ok\n" + "x" * 201}, "Prompt 2 is longer than 200 characters."),
        ({"icon": "nonsense"}, "Choose one of the symbols."),
        ({"name": ""}, "This field is required."),
    ],
)
def test_a_mistake_is_named_and_nothing_is_saved(
    root: Client, flow: Flow, page: str, wrong: dict[str, str], sentence: str
) -> None:
    assert sentence in root.post(page, {**FORM, **wrong}).content.decode()
    flow.refresh_from_db()
    assert flow.name == "通用助手"


def test_a_flow_is_given_to_groups_and_archived(root: Client, flow: Flow, page: str) -> None:
    group = Group.objects.create(name="研发中心")
    root.post(page, {**FORM, "groups": [group.pk], "is_archived": "on"})
    flow.refresh_from_db()
    assert (list(flow.groups.all()), flow.is_archived) == ([group], True)
    assert "研发中心" in root.get(reverse("admin:flows_flow_changelist")).content.decode()


def test_who_may_only_look_changes_nothing(client: Client, flow: Flow, page: str) -> None:
    viewer = UserFactory(is_staff=True)
    viewer.user_permissions.add(Permission.objects.get(codename="view_flow"))
    client.force_login(viewer)
    shown = client.get(page).content.decode()
    assert "通用助手" in shown
    assert 'name="starters' not in shown
    assert client.post(page, FORM).status_code == 403


def test_versions_are_there_to_read(root: Client, flow: Flow, page: str) -> None:
    shown = root.get(page).content.decode()
    assert "start · 回答 · answer" in shown
    assert 'name="versions-0-number"' not in shown


def test_flows_are_neither_added_nor_deleted_here(root: Client, flow: Flow) -> None:
    """They come from the builder and from files, and sessions of an archived one stay readable."""
    assert root.post(reverse("admin:flows_flow_add"), FORM).status_code == 403
    assert root.post(reverse("admin:flows_flow_delete", args=[flow.pk]), {"post": "yes"}).status_code == 403
