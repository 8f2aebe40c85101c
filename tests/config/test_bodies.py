"""Whatever a program sends, the API answers with a clear error of its own (O4, M5)."""

import pytest

from tests.people import Person

LONE = "\\ud83d"
"""Half a character, as JSON writes it."""


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/memory/erase", f'{{"scope": "{LONE}"}}'),
        ("/api/memory/erase", f'{{"scope": "all", "{LONE}": 1}}'),
        ("/api/memory/erase", f'{{"scope": ["{LONE}"]}}'),
        ("/api/memory/erase", "[" * 100_000),
    ],
    ids=["value", "name", "list", "bottomless"],
)
def test_what_cannot_be_quoted_back_is_refused_in_words(bob: Person, path: str, body: str) -> None:
    refused = bob.api.post(path, content=body, headers={"Content-Type": "application/json"})
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["detail"]


@pytest.mark.parametrize("key", [b"\xff", b"\xc3\xa9", "钥匙".encode()])
def test_a_key_that_is_no_text_is_a_wrong_key(bob: Person, key: bytes) -> None:
    refused = bob.api.get("/api/flows", headers={b"Authorization": b"Token " + key})
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (401, "authentication_failed")
