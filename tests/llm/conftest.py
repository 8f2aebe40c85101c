from collections.abc import AsyncIterator, Iterator

import pytest
from pytest_django import Settings

import llm
from llm import attempts
from llm.profile import Profile
from tests.doubles import MODEL, ModelServer


@pytest.fixture(autouse=True)
def no_pauses(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the pauses that a person would see or an endpoint needs."""
    settings.LLM_OFFLINE_DELAY = 0
    monkeypatch.setattr(attempts, "FIRST_DELAY", 0)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture
async def profile(server: ModelServer) -> AsyncIterator[Profile]:
    """The scripted model; the connections of the test's event loop are closed behind it."""
    yield Profile(name="scripted", base_url=server.base_url, api_key="sk-scripted", model=MODEL)
    await llm.aclose()
