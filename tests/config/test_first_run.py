"""The page that sets up the first model (S5, S6): test it, then let it answer for everybody."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

import llm
from llm.models import ProviderProfile
from llm.profile import OFFLINE
from tests.doubles import Answer, ModelServer

pytestmark = pytest.mark.django_db

PAGE = "/admin/first-run/"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
def root(root: Client) -> Client:
    root.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    return root


@pytest.fixture
def typed(server: ModelServer) -> dict[str, Any]:
    """What somebody typed."""
    return {"base_url": server.base_url, "api_key": "sk-canary", "model": "scripted-model"}


def test_a_test_asks_the_model_and_stores_nothing(root: Client, server: ModelServer, typed: dict[str, Any]) -> None:
    server.enqueue(Answer("我是<b>模型</b>。"))
    page = root.post(PAGE, {**typed, "do": "test"}).content.decode()
    assert "The model answered after" in page
    assert "我是&lt;b&gt;模型&lt;/b&gt;。" in page
    assert "sk-canary" not in page
    assert server.chats[0].headers["authorization"] == "Bearer sk-canary"
    assert not ProviderProfile.objects.exists()
    assert llm.resolve_profile() is OFFLINE


def test_a_model_that_answers_is_saved_for_everybody(root: Client, server: ModelServer, typed: dict[str, Any]) -> None:
    page = root.post(PAGE, {**typed, "do": "save"}, follow=True).content.decode()
    assert "scripted-model answers for everybody from now on." in page
    assert "sk-canary" not in page
    assert "/admin/llm/providerprofile/" in page
    profile = llm.resolve_profile()
    assert (profile.model, profile.base_url, profile.api_key) == ("scripted-model", server.base_url, "sk-canary")
    assert "sk-canary" not in ProviderProfile.objects.get().encrypted_api_key


def test_a_model_that_does_not_answer_is_saved_only_on_demand(
    root: Client, server: ModelServer, typed: dict[str, Any]
) -> None:
    server.enqueue(Answer(status=401))
    page = root.post(PAGE, {**typed, "do": "save"}).content.decode()
    assert "Nothing was saved." in page
    assert "check its address, key and model name" in page
    assert not ProviderProfile.objects.exists()
    assert "save_untested" in page
    asked = len(server.chats)
    root.post(PAGE, {**typed, "do": "save_untested"})
    assert len(server.chats) == asked
    assert llm.resolve_profile().model == "scripted-model"


def test_a_new_model_takes_the_place_of_the_old_one(root: Client, typed: dict[str, Any]) -> None:
    old = ProviderProfile.objects.create(name="scripted-model", model="old", is_default=True)
    root.post(PAGE, {**typed, "do": "save"})
    old.refresh_from_db()
    new = ProviderProfile.objects.get(is_default=True)
    assert (old.is_default, new.name, new.model) == (False, "scripted-model (2)", "scripted-model")


def test_the_same_model_again_changes_its_profile(root: Client, typed: dict[str, Any]) -> None:
    root.post(PAGE, {**typed, "do": "save"})
    root.post(PAGE, {**typed, "api_key": "", "do": "save"})
    assert llm.resolve_profile().api_key == "sk-canary"
    root.post(PAGE, {**typed, "api_key": "sk-other", "do": "save"})
    assert llm.resolve_profile().api_key == "sk-other"
    assert ProviderProfile.objects.count() == 1


@pytest.mark.parametrize(
    ("wrong", "remedy"),
    [
        ({"base_url": "models.test"}, "Give an address such as https://api.example.com/v1."),
        ({"api_key": "钥匙"}, "A key has plain letters, digits and marks only."),
        ({"model": ""}, "This field is required."),
    ],
)
def test_what_cannot_be_right_is_said_without_asking(
    root: Client, server: ModelServer, typed: dict[str, Any], wrong: dict[str, str], remedy: str
) -> None:
    assert remedy in root.post(PAGE, {**typed, **wrong, "do": "save"}).content.decode()
    assert not server.chats


def test_a_script_is_told_to_load_the_overview(root: Client, typed: dict[str, Any]) -> None:
    """The page sends its form by htmx, which follows this header with the whole page."""
    response = root.post(PAGE, {**typed, "do": "save"}, headers={"hx-request": "true"})
    assert response["HX-Redirect"] == "/admin/"


def test_the_overview_says_who_answers(root: Client, settings: Any) -> None:
    """S6."""
    assert "The built-in demo model answers" in root.get("/admin/").content.decode()
    settings.LLM_BASE_URL, settings.LLM_MODEL = "https://models.test/v1", "house-model"
    page = root.get("/admin/").content.decode()
    assert "house-model answers" in page
    assert "set by the environment" in page


def test_a_key_that_cannot_be_read_is_said_with_its_remedy(root: Client) -> None:
    ProviderProfile.objects.create(name="house", model="m", is_default=True, encrypted_api_key="of another secret")
    assert "The stored key of the model cannot be read." in root.get("/admin/").content.decode()
    assert root.get(PAGE).status_code == 200


def test_only_superusers_set_up_models(client: Client, typed: dict[str, Any]) -> None:
    client.force_login(User.objects.create_user("alice", is_staff=True))
    assert client.get(PAGE).status_code == 403
    assert client.post(PAGE, {**typed, "do": "save_untested"}).status_code == 403
    assert not ProviderProfile.objects.exists()
