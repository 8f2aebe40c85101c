"""What tests share: the real server in this process, the cast, a scripted model, an empty Redis."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from django.contrib.auth.models import User
from django.test import Client
from django_redis import get_redis_connection

from flows import runner
from flows.models import Flow
from llm.profile import forget_recent
from memory import window
from memory.models import Turn, TurnStatus
from tests.doubles import ModelServer
from tests.factories import make_flow
from tests.people import Person, add_person
from tests.waiting import eventually


@pytest.fixture(autouse=True)
def _fresh_redis(request: pytest.FixtureRequest) -> Iterator[None]:
    """Empties this worker's Redis database around tests that use the database, and what a process has at hand."""
    forget_recent()
    if request.node.get_closest_marker("django_db") is None and "address" not in request.fixturenames:
        yield
        return
    window.breaker.succeeded()
    get_redis_connection("memory").flushdb()
    yield


@pytest.fixture(scope="session")
def address(django_db_setup: None) -> Iterator[str]:
    """The address of the product, served by uvicorn from a thread of this process."""
    from config.asgi import application  # sets up Channels, which unit tests do without

    config = uvicorn.Config(
        application, port=0, log_level="warning", lifespan="on", timeout_graceful_shutdown=3, proxy_headers=False
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, name="server")
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def live(transactional_db: None, address: str) -> Iterator[str]:
    """The running server over a database whose rows every thread sees. It ends when every turn is seen through."""
    yield address
    eventually(lambda: runner.current().is_idle)


@pytest.fixture
def bob(live: str) -> Person:
    return add_person("bob", live)


@pytest.fixture
def carol(live: str) -> Person:
    return add_person("carol", live)


@pytest.fixture
def root(client: Client) -> Client:
    """A browser in which a superuser is logged in."""
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.fixture
def flow(transactional_db: None) -> Flow:
    """A flow that everybody may use: the model answers, with the session's memory."""
    return make_flow()


@pytest.fixture
def model(settings: Any) -> Iterator[ModelServer]:
    """A scripted model that the product talks to over HTTP."""
    with ModelServer() as server:
        settings.LLM_BASE_URL, settings.LLM_API_KEY, settings.LLM_MODEL = server.base_url, "test-key", "scripted"
        yield server


@pytest.fixture
def gate(model: ModelServer) -> Iterator[threading.Event]:
    """Holds scripted answers back until it is set. It opens by itself when the test is over."""
    event = threading.Event()
    yield event
    event.set()
    eventually(lambda: not Turn.objects.filter(status=TurnStatus.RUNNING).exists())
