"""Which model answers, and where its key rests (S5)."""

from typing import Any

import pytest
from django.core.checks import run_checks
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection
from pytest_django import DjangoAssertNumQueries, Settings

import llm
from llm import secrets
from llm.errors import ModelMisconfigured
from llm.models import ProviderProfile
from llm.profile import OFFLINE, OPENAI_BASE_URL


def stored(name: str, *, key: str = "", **fields: Any) -> ProviderProfile:
    profile = ProviderProfile(name=name, **{"base_url": "https://models.test/v1", "model": f"{name}-1", **fields})
    profile.set_api_key(key)
    profile.save()
    return profile


@pytest.fixture
def nothing_set(settings: Settings) -> Settings:
    settings.LLM_BASE_URL = settings.LLM_API_KEY = settings.LLM_MODEL = ""
    return settings


@pytest.mark.django_db
class TestWhichModelAnswers:
    def test_without_any_setting_the_demo_model_answers(self, nothing_set: Settings) -> None:
        """S6"""
        assert llm.resolve_profile() == OFFLINE

    def test_the_environment_makes_the_default_one(self, nothing_set: Settings) -> None:
        nothing_set.LLM_API_KEY, nothing_set.LLM_MODEL = "sk-1", "gpt"
        profile = llm.resolve_profile()
        assert (profile.base_url, profile.api_key, profile.model) == (OPENAI_BASE_URL, "sk-1", "gpt")

    def test_a_local_endpoint_needs_no_key(self, nothing_set: Settings) -> None:
        nothing_set.LLM_BASE_URL, nothing_set.LLM_MODEL = "http://localhost:11434/v1", "qwen3"
        assert llm.resolve_profile().base_url == "http://localhost:11434/v1"

    def test_a_stored_default_comes_before_the_environment_and_a_named_one_before_both(
        self, nothing_set: Settings
    ) -> None:
        nothing_set.LLM_API_KEY, nothing_set.LLM_MODEL = "sk-1", "gpt"
        stored("house", is_default=True)
        stored("fast")
        assert llm.resolve_profile().name == "house"
        assert llm.resolve_profile("fast").name == "fast"
        assert llm.resolve_profile("unknown").name == "house"

    def test_a_disabled_profile_does_not_answer(self, nothing_set: Settings) -> None:
        stored("house", is_default=True, enabled=False)
        assert llm.resolve_profile("house") == OFFLINE

    def test_a_profile_brings_its_key_its_limits_and_its_fallbacks_in_one_query(
        self, django_assert_num_queries: DjangoAssertNumQueries
    ) -> None:
        last = stored("last")
        second = stored("second", fallback=last)
        stored("first", key="sk-first", context_tokens=8_000, thinking_key="thinking", fallback=second)
        with django_assert_num_queries(1):
            profile = llm.resolve_profile("first")
        assert [link.name for link in profile.chain()] == ["first", "second", "last"]
        assert (profile.api_key, profile.context_tokens, profile.thinking_key) == ("sk-first", 8_000, "thinking")

    def test_a_disabled_fallback_is_passed_over_and_a_circle_ends(self) -> None:
        off = stored("off", enabled=False)
        first = stored("first", fallback=off)
        assert [link.name for link in llm.resolve_profile("first").chain()] == ["first"]
        second = stored("second", fallback=first)
        ProviderProfile.objects.filter(pk=first.pk).update(fallback=second)
        assert [link.name for link in llm.resolve_profile("first").chain()] == ["first", "second"]


@pytest.mark.django_db
class TestStoredKeys:
    def test_a_key_rests_encrypted(self) -> None:
        profile = stored("house", key=" sk-canary ")
        with connection.cursor() as cursor:
            cursor.execute("select * from llm_providerprofile where id = %s", [profile.pk])
            assert "sk-canary" not in str(cursor.fetchall())
        assert llm.resolve_profile("house").api_key == "sk-canary"
        assert "sk-canary" not in repr(llm.resolve_profile("house"))

    def test_a_key_survives_a_rotation_of_the_secret_key(self, settings: Settings) -> None:
        settings.SECRET_KEY = "old"
        stored("house", key="sk-1")
        settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new", ["old"]
        assert llm.resolve_profile("house").api_key == "sk-1"
        settings.SECRET_KEY_FALLBACKS = []
        with pytest.raises(ModelMisconfigured):
            llm.resolve_profile("house")

    def test_the_key_that_encrypts_is_not_the_secret_key_itself(self, settings: Settings) -> None:
        settings.SECRET_KEY = "y" * 43 + "="
        assert secrets.decrypt(secrets.encrypt("钥匙")) == "钥匙"
        assert secrets.encrypt("") == ""


@pytest.mark.django_db
class TestWhatMayBeStored:
    def test_there_is_one_default(self) -> None:
        stored("one", is_default=True)
        with pytest.raises(IntegrityError):
            stored("two", is_default=True)

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("base_url", "models.test/v1"),
            ("base_url", "ftp://models.test"),
            ("base_url", "https://models.test/v1?key=1"),
            ("extra_body", ["top_k"]),
            ("max_output_tokens", 40_000),
            ("context_tokens", 10),
        ],
    )
    def test_a_setting_that_cannot_work_is_refused_with_its_field(self, field: str, value: object) -> None:
        fields: dict[str, Any] = {"name": "x", "model": "m", "base_url": "http://vllm:8000/v1", field: value}
        with pytest.raises(ValidationError) as caught:
            ProviderProfile(**fields).full_clean()
        assert field in caught.value.message_dict

    def test_a_fallback_that_leads_back_is_refused(self) -> None:
        first = stored("first")
        first.fallback = stored("second", fallback=first)
        with pytest.raises(ValidationError):
            first.full_clean()


def test_a_key_without_a_model_is_pointed_out_at_start(nothing_set: Settings) -> None:
    assert not [message for message in run_checks() if message.id == "llm.W001"]
    nothing_set.LLM_API_KEY = "sk-1"
    assert [message for message in run_checks() if message.id == "llm.W001"]
