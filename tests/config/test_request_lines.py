"""Logs carry no word of what people typed (O3)."""

import logging

import pytest

from flows.models import Flow
from tests.doubles import ModelServer
from tests.people import Person
from tests.waiting import eventually


def test_what_a_person_searches_for_is_not_in_the_log(bob: Person, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.INFO, logger="django_structlog")
    bob.api.get("/api/memory/sessions", params={"q": "canary"})
    bob.api.get("/flows/sessions/", params={"q": "canary"})
    lines = [record.getMessage() for record in caplog.records if record.name.startswith("django_structlog")]
    assert any("GET /api/memory/sessions" in line for line in lines)
    assert "canary" not in caplog.text


def test_a_request_by_key_carries_the_id_of_its_user(
    bob: Person, flow: Flow, model: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    """O3: as one by cookie does; in its own lines, and in those of the turn that it begins."""
    caplog.set_level(logging.INFO)
    caplog.set_level(logging.INFO, logger="django_structlog")
    bob.says(flow, "你好")
    eventually(lambda: any("request_finished" in record.getMessage() for record in caplog.records))
    lines = [record.msg for record in caplog.records if isinstance(record.msg, dict)]
    by_event = {line["event"]: line.get("user_id") for line in lines}
    assert by_event["request_finished"] == by_event["End to store memory"] == bob.user.pk


def test_the_name_of_a_shared_link_is_not_in_the_log(bob: Person, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="django_structlog")
    bob.api.get("/shared/canary/")
    lines = [record.getMessage() for record in caplog.records if record.name.startswith("django_structlog")]
    assert any("GET /shared/…" in line for line in lines)
    assert "canary" not in "".join(lines)
