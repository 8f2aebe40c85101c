"""The files for containers agree with each other and with the guide (O1)."""

import re
from typing import Any

import pytest
import yaml

from config.home import CHECKOUT


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    return yaml.safe_load((CHECKOUT / "compose.yaml").read_text())["services"]


def test_every_kind_of_process_has_its_service(services: dict[str, Any]) -> None:
    assert set(services) == {"postgres", "redis", "migrate", "web", "worker", "beat"}
    for name in ("migrate", "web", "worker", "beat"):
        assert set(services[name]["environment"]) == {"DATABASE_URL", "REDIS_URL"}
    for name in ("web", "worker", "beat"):
        assert services[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}


def test_redis_keeps_what_it_is_told(services: dict[str, Any]) -> None:
    """M3: the append-only file is on, and nothing is evicted."""
    command = " ".join(services["redis"]["command"])
    assert "--appendonly yes" in command
    assert "--maxmemory-policy noeviction" in command


def test_what_the_files_ask_for_is_in_the_example_and_in_the_guide() -> None:
    compose, example, guide = (
        (CHECKOUT / name).read_text() for name in ("compose.yaml", ".env.example", "docs/operations.md")
    )
    asked, offered = set(re.findall(r"\$\{([A-Z_]+)", compose)), set(re.findall(r"(?m)^([A-Z_]+)=", example))
    assert asked == {"POSTGRES_PASSWORD", "REDIS_PASSWORD"}
    assert asked <= offered
    assert {name for name in offered - asked if f"`{name}`" not in guide} == set()


def test_the_guide_starts_web_worker_and_beat_as_the_containers_do(services: dict[str, Any]) -> None:
    guide = (CHECKOUT / "docs/operations.md").read_text()
    image = (CHECKOUT / "Dockerfile").read_text()
    web = " ".join(re.findall(r'"([^"]+)"', image[image.index("CMD") :]))
    assert f"`{web}`" in guide
    assert f"`{' '.join(services['worker']['command'])}`" in guide
    assert f"`{' '.join(services['beat']['command'])[:25]}" in guide
