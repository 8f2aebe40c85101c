"""O2: what probes and Prometheus see."""

from typing import Any

import pytest
import redis
from django.test import Client

from memory import window


@pytest.mark.django_db
def test_ready_names_each_dependency_with_its_latency(client: Client) -> None:
    body = client.get("/readyz").json()
    assert body["status"] == "ok"
    assert set(body["checks"]) == {"postgres", "redis", "memory_redis", "broker"}
    assert all(check["ok"] and check["ms"] >= 0 for check in body["checks"].values())


@pytest.mark.django_db
def test_without_redis_it_is_degraded_and_still_takes_requests(client: Client, monkeypatch: Any) -> None:
    monkeypatch.setattr(window, "_client", lambda: redis.Redis(port=1))
    response = client.get("/readyz")
    assert (response.status_code, response.json()["status"]) == (200, "degraded")


def test_probes_need_no_host_name_and_no_login() -> None:
    client = Client(headers={"host": "10.0.0.7:8000"})
    assert client.get("/healthz").json() == {"status": "ok"}


@pytest.mark.django_db
def test_metrics_count_memory_without_naming_anybody(client: Client) -> None:
    text = client.get("/metrics").content.decode()
    assert "tacit_memory_retrievals" in text
