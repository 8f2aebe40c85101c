"""Model profiles in the admin (S5): superusers only, a key that is never shown again, and a test button."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

import llm
from llm.models import ProviderProfile
from tests.doubles import Answer, ModelServer

pytestmark = pytest.mark.django_db

LIST = "admin:llm_providerprofile_changelist"
ADD = "admin:llm_providerprofile_add"
FORM: dict[str, Any] = {
    "name": "house",
    "base_url": "https://models.test/v1",
    "api_key": "",
    "model": "m",
    "enabled": "on",
    "context_tokens": 32_768,
    "max_output_tokens": 4_096,
    "output_limit_field": "max_tokens",
    "thinking_key": "",
    "reasoning_replay": "never",
    "extra_body": "{}",
}


@pytest.fixture
def superuser(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.fixture
def house() -> ProviderProfile:
    profile = ProviderProfile(name="house", base_url="https://models.test/v1", model="m")
    profile.set_api_key("sk-canary")
    profile.save()
    return profile


def url(view: str, profile: ProviderProfile) -> str:
    return reverse(f"admin:llm_providerprofile_{view}", args=[profile.pk])


def test_a_key_can_be_set_and_is_never_shown_again(superuser: Client) -> None:
    response = superuser.post(reverse(ADD), {**FORM, "api_key": "sk-canary"}, follow=True)
    assert response.status_code == 200
    profile = ProviderProfile.objects.get(name="house")
    pages = [superuser.get(page) for page in (reverse(LIST), url("change", profile), url("history", profile))]
    assert all("sk-canary" not in page.content.decode() for page in [response, *pages])
    assert llm.resolve_profile("house").api_key == "sk-canary"


def test_an_empty_key_field_keeps_the_key(superuser: Client, house: ProviderProfile) -> None:
    superuser.post(url("change", house), {**FORM, "model": "other"})
    profile = llm.resolve_profile("house")
    assert (profile.model, profile.api_key) == ("other", "sk-canary")


def test_a_key_can_be_replaced_and_forgotten(superuser: Client, house: ProviderProfile) -> None:
    superuser.post(url("change", house), {**FORM, "api_key": "sk-2"})
    assert llm.resolve_profile("house").api_key == "sk-2"
    superuser.post(url("change", house), {**FORM, "forget_api_key": "on"})
    assert llm.resolve_profile("house").api_key == ""


def test_another_address_wants_the_key_again(superuser: Client, house: ProviderProfile) -> None:
    """Else whoever may edit a profile could have its key sent to a server of their own."""
    changed = {**FORM, "base_url": "https://elsewhere.test/v1"}
    superuser.post(url("change", house), changed)
    assert llm.resolve_profile("house").base_url == "https://models.test/v1"
    superuser.post(url("change", house), {**changed, "api_key": "sk-3"})
    assert llm.resolve_profile("house").base_url == "https://elsewhere.test/v1"


@pytest.mark.parametrize("key", ["钥匙", "two words\ttab"])
def test_a_key_that_fits_no_header_is_refused(superuser: Client, key: str) -> None:
    superuser.post(reverse(ADD), {**FORM, "api_key": key})
    assert not ProviderProfile.objects.exists()


def test_staff_without_superuser_rights_see_nothing_of_it(client: Client, house: ProviderProfile) -> None:
    manager = User.objects.create_user("alice", is_staff=True)
    manager.user_permissions.set(Permission.objects.filter(content_type__app_label="llm"))
    client.force_login(manager)
    pages = [reverse(LIST), reverse(ADD), *(url(view, house) for view in ("change", "delete", "history", "test"))]
    assert {client.get(page).status_code for page in pages} == {403}
    assert client.post(url("test", house)).status_code == 403
    assert reverse(LIST) not in client.get(reverse("admin:index")).content.decode()


def test_the_test_button_asks_the_model_and_shows_answer_and_time(
    superuser: Client, house: ProviderProfile, server: ModelServer
) -> None:
    ProviderProfile.objects.update(base_url=server.base_url)
    server.enqueue(Answer("我是<b>模型</b>。"))
    assert url("test", house) in superuser.get(url("change", house)).content.decode()
    assert superuser.get(url("test", house)).status_code == 200
    assert not server.chats
    page = superuser.post(url("test", house)).content.decode()
    assert "我是&lt;b&gt;模型&lt;/b&gt;。" in page
    assert re.search(r"\d+ (ms|毫秒)", page)
    assert server.chats[0].headers["authorization"] == "Bearer sk-canary"


def test_a_failed_test_says_the_remedy_and_does_not_ask_the_fallback(
    superuser: Client, house: ProviderProfile, server: ModelServer
) -> None:
    fallback = ProviderProfile.objects.create(name="other", base_url=server.base_url, model="other")
    ProviderProfile.objects.filter(pk=house.pk).update(base_url=server.base_url, fallback=fallback)
    server.enqueue(Answer(status=401))
    page = superuser.post(url("test", house), headers={"accept-language": "en"}).content.decode()
    assert "check its address, key and model name" in page
    assert len(server.chats) == 1


def test_the_pages_need_no_inline_script_or_style(superuser: Client, house: ProviderProfile) -> None:
    page = superuser.get(url("test", house)).content.decode()
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", page)
