"""The admin: who may enter, what its pages may do in a browser, and that no page of it tells what people said."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse

from config import tasks
from config.beat import SCHEDULE
from flows.models import Flow
from llm.models import ProviderProfile
from memory.models import Conversation, SharedConversation, TurnStatus
from profiles.models import UserProfile
from tests.factories import ConversationFactory, TurnFactory, UserFactory, make_flow

pytestmark = pytest.mark.django_db

CANARY = "canary-7f3a"
INLINE = re.compile(r"<style|<script(?![^>]*\ssrc=)|\son\w+=")
OBJECT = re.compile(r"<(path:object_id|int:pk|id)>")


@pytest.fixture
def said(flow: Flow) -> Conversation:
    """A session whose every text holds the canary."""
    bob = UserFactory(username="bob")
    UserProfile.objects.create(user=bob, display_name="王小明")
    texts = {"title": f"{CANARY} title", "summary": f"{CANARY} summary"}
    session = ConversationFactory(user=bob, flow_id=flow.pk, flow_name=flow.name, **texts)
    usage = {"prompt_tokens": 900, "completion_tokens": 100}
    TurnFactory(conversation=session, input=f"{CANARY} question", output=f"{CANARY} answer", usage=usage)
    TurnFactory(conversation=session, input=CANARY, output="", status=TurnStatus.FAILED, rating_reason=CANARY)
    SharedConversation.objects.create(conversation=session, last_seq=2)
    return session


@pytest.fixture
def flow() -> Flow:
    return make_flow()


def addresses() -> Iterator[str]:
    """Every address of the admin, for every object there is, with the searches and orders that a list offers."""
    resolver = next(part for part in get_resolver().url_patterns if str(part.pattern) == "admin/")
    plain = [str(part.pattern) for part in resolver.url_patterns if isinstance(part, URLPattern)]
    yield from (f"/admin/{path}" for path in plain if not re.search(r"[\^(<]", path) and path != "logout/")
    for model, page in admin.site._registry.items():
        home = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        columns = "".join(f"&o={number}" for number in range(len(page.list_display)))
        yield from (f"{home}?q=canary", f"{home}?q=b{columns}", f"{home}?all=")
        for part in page.get_urls():
            path = str(part.pattern)
            keys = model._default_manager.values_list("pk", flat=True) if OBJECT.search(path) else [""]
            yield from (home + OBJECT.sub(str(key), path) for key in keys)


def test_no_page_of_the_admin_shows_what_people_said(root: Client, said: Conversation) -> None:
    """F6, M2: not to superusers either."""
    ProviderProfile.objects.create(name="house", model="m")
    Group.objects.create(name="研发中心")
    root.post(reverse("admin:flows_flow_change", args=[said.flow_id]), {"name": "助手"})
    pages = {address: root.get(address, follow=True) for address in addresses()}
    assert reverse("admin:memory_conversation_change", args=[said.pk]) in pages
    assert len(pages) > 40
    bodies = {address: page.content.decode() for address, page in pages.items()}
    assert [address for address, page in pages.items() if page.status_code >= 500] == []
    assert [address for address, body in bodies.items() if CANARY in body] == []
    assert [address for address, body in bodies.items() if INLINE.search(body)] == []


@pytest.mark.parametrize(
    "question",
    [
        "memory/conversation/?title__startswith=canary",
        "memory/conversation/?summary__contains=canary",
        "memory/conversation/?turns__input__contains=canary",
        "auth/user/?turns__input__contains=canary",
        "auth/user/?conversations__title__contains=canary",
        "auth/user/?profile__display_name__contains=x",
    ],
)
def test_no_list_can_be_asked_about_texts(root: Client, said: Conversation, question: str) -> None:
    """F6: how many rows match would tell a text letter by letter."""
    page = root.get(f"/admin/{question}", follow=True)
    assert page.status_code == 400 or "e=1" in page.request["QUERY_STRING"]


def test_sessions_are_listed_with_counts_and_found_by_their_owner(root: Client, said: Conversation) -> None:
    page = root.get("/admin/memory/conversation/?q=bob").content.decode()
    assert re.findall(r'data-label="(?:messages|消息数)">(\d+)<', page) == ["3"]
    assert "1000" in page
    assert str(said.pk) not in root.get("/admin/memory/conversation/?q=%E6%A0%87").content.decode()


@pytest.mark.parametrize("action", ["add/", "{}/delete/"])
def test_sessions_are_neither_made_nor_deleted_here(root: Client, said: Conversation, action: str) -> None:
    assert root.post("/admin/memory/conversation/" + action.format(said.pk)).status_code == 403


def test_there_is_one_login_page_and_it_leads_back(client: Client) -> None:
    page = client.get("/admin/first-run/?x=1", follow=True)
    assert page.redirect_chain[-1][0] == "/accounts/login/?next=/admin/first-run/%3Fx%3D1"
    User.objects.create_superuser("root", password="a-long-one")
    page = client.post(page.redirect_chain[-1][0], {"username": "root", "password": "a-long-one", "next": "/admin/"})
    assert page.headers["Location"] == "/admin/"
    assert client.post(reverse("admin:logout")).headers["Location"] == "/accounts/login/"


def test_people_without_business_here_are_refused(client: Client) -> None:
    client.force_login(UserFactory())
    for address in ("/admin/", "/admin/first-run/", "/admin/auth/user/"):
        assert client.get(address, follow=True).status_code == 403


def test_staff_see_nothing_until_they_are_given_something(client: Client, said: Conversation) -> None:
    staff = UserFactory(is_staff=True)
    client.force_login(staff)
    page = client.get("/admin/").content.decode()
    assert not re.search(r'href="/admin/\w+/\w+/"', page.replace("/admin/password_change/", ""))
    assert client.get("/admin/memory/conversation/").status_code == 403
    assert client.get("/admin/first-run/").status_code == 403
    staff.user_permissions.add(Permission.objects.get(codename="view_conversation"))
    assert 'href="/admin/memory/conversation/"' in client.get("/admin/").content.decode()
    assert CANARY not in client.get("/admin/memory/conversation/").content.decode()


def test_tables_that_help_nobody_have_no_page() -> None:
    """O4: a token's row, for example, is of no use to anybody but its owner."""
    registered = {model._meta.label for model in admin.site._registry}
    assert registered == {
        "auth.User",
        "auth.Group",
        "flows.Flow",
        "memory.Conversation",
        "memory.DeadLetter",
        "profiles.Department",
        "profiles.EvaluationReport",
        "profiles.UserProfile",
        "profiles.WorkTask",
        "llm.ProviderProfile",
        "axes.AccessAttempt",
    }


def test_only_the_admin_has_the_policy_that_its_skin_needs(root: Client) -> None:
    """O4."""
    inside = root.get("/admin/")["Content-Security-Policy"]
    assert "script-src 'self' 'unsafe-eval';" in inside + ";"
    assert "style-src 'self';" in inside + ";"
    assert "script-src-attr" not in inside
    for address in ("/", "/accounts/login/", "/administration/", "/api/docs"):
        assert "unsafe" not in root.get(address, follow=True)["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("zh-hans", ("概览", "用户", "流程", "由内置的演示模型回答")),
        ("en", ("Overview", "Users", "Flows", "The built-in demo model")),
    ],
)
def test_the_overview_speaks_both_languages(root: Client, language: str, words: tuple[str, ...]) -> None:
    """S1, S6."""
    page = root.get("/admin/", headers={"accept-language": language}).content.decode()
    assert [word for word in words if word not in page] == []


def test_the_overview_counts(root: Client, said: Conversation) -> None:
    context = root.get("/admin/", headers={"accept-language": "en"}).context
    assert [figure.count for figure in context["figures"]] == [2, 1, 1]
    assert {figure.name: figure.count for figure in context["turns"] if figure.count} == {"complete": 1, "failed": 1}


def test_the_overview_tells_whether_jobs_are_done(root: Client) -> None:
    def worker() -> Any:
        return root.get("/admin/").context["services"][-1].answers

    assert not worker()
    assert SCHEDULE["beat-heart"]["task"] == tasks.beat_heart.name
    tasks.beat_heart()
    assert worker()


def test_a_lock_out_can_be_lifted(root: Client, client: Client, settings: Any) -> None:
    """O4."""
    stranger = Client()
    UserFactory(username="bob")
    right = {"username": "bob", "password": "tacit-demo"}
    for _ in range(settings.AXES_FAILURE_LIMIT):
        stranger.post("/accounts/login/", {**right, "password": "wrong"})
    assert stranger.post("/accounts/login/", right).status_code == 429
    page = root.get("/admin/axes/accessattempt/")
    [attempt] = page.context["cl"].result_list
    assert attempt.failures >= settings.AXES_FAILURE_LIMIT
    root.post("/admin/axes/accessattempt/", {"action": "unlock", "_selected_action": [attempt.pk]})
    assert stranger.post("/accounts/login/", right).status_code == 302
