"""Logs carry no word of what people typed (O3)."""

import logging

import pytest

from tests.people import Person


def test_what_a_person_searches_for_is_not_in_the_log(bob: Person, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.INFO, logger="django_structlog")
    bob.api.get("/api/memory/sessions", params={"q": "canary"})
    bob.api.get("/flows/sessions/", params={"q": "canary"})
    lines = [record.getMessage() for record in caplog.records if record.name.startswith("django_structlog")]
    assert any("GET /api/memory/sessions" in line for line in lines)
    assert "canary" not in caplog.text


def test_the_name_of_a_shared_link_is_not_in_the_log(bob: Person, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="django_structlog")
    bob.api.get("/shared/canary/")
    lines = [record.getMessage() for record in caplog.records if record.name.startswith("django_structlog")]
    assert any("GET /shared/…" in line for line in lines)
    assert "canary" not in "".join(lines)
