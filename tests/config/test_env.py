"""The readers of the environment are strict: a wrong value stops the start and says how to mend it (O1)."""

import re
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env
from config.home import CHECKOUT


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DEBUG", "KEY", "KEY_FILE", "SIZE"):
        monkeypatch.delenv(name, raising=False)


def test_a_missing_value_without_a_default_names_the_variable() -> None:
    with pytest.raises(ImproperlyConfigured, match="KEY is not set"):
        env.text("KEY")


def test_an_empty_value_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "  ")
    assert env.text("KEY", default="fallback") == "fallback"
    assert env.flag("KEY", default=True) is True
    assert env.number("KEY", default=7) == 7
    assert env.words("KEY", default=("a",)) == ["a"]


@pytest.mark.parametrize(
    ("value", "expected"), [("1", True), ("Yes", True), ("ON", True), ("0", False), ("false", False)]
)
def test_a_flag_is_read_in_the_usual_words(monkeypatch: pytest.MonkeyPatch, value: str, expected: bool) -> None:
    monkeypatch.setenv("DEBUG", value)
    assert env.flag("DEBUG", default=not expected) is expected


def test_a_flag_that_is_neither_yes_nor_no_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEBUG", "maybe")
    with pytest.raises(ImproperlyConfigured, match=r"DEBUG='maybe'.*Use 1 or 0"):
        env.flag("DEBUG", default=False)


def test_a_number_has_the_type_of_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIZE", "3")
    assert repr(env.number("SIZE", default=1)) == "3"
    assert repr(env.number("SIZE", default=1.0)) == "3.0"


@pytest.mark.parametrize("value", ["three", "3.5", "-1"])
def test_a_number_that_will_not_do_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("SIZE", value)
    with pytest.raises(ImproperlyConfigured, match="SIZE="):
        env.number("SIZE", default=1, at_least=0)


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_a_number_is_finite(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("SIZE", value)
    with pytest.raises(ImproperlyConfigured, match="is not a number"):
        env.number("SIZE", default=1.5)


def test_words_come_without_blanks_and_empty_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", " tacit.example.com , ,默契.example ")
    assert env.words("KEY") == ["tacit.example.com", "默契.example"]


def test_a_secret_comes_from_the_named_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cret\n")
    monkeypatch.setenv("KEY_FILE", str(tmp_path / "key"))
    assert env.secret("KEY") == "s3cret"


def test_a_secret_given_twice_is_refused_without_being_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "s3cret")
    monkeypatch.setenv("KEY_FILE", "/run/secrets/key")
    with pytest.raises(ImproperlyConfigured, match="both set") as refusal:
        env.secret("KEY")
    assert "s3cret" not in str(refusal.value)


def test_a_secret_file_that_is_missing_or_empty_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KEY_FILE", str(tmp_path / "key"))
    with pytest.raises(ImproperlyConfigured, match=r"KEY_FILE=.*cannot be read"):
        env.secret("KEY")
    (tmp_path / "key").write_text("\n")
    with pytest.raises(ImproperlyConfigured, match="empty file"):
        env.secret("KEY")


def test_a_secret_has_a_default_only_while_debugging(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImproperlyConfigured, match="KEY is not set"):
        env.secret("KEY", debug_default="insecure")
    monkeypatch.setenv("DEBUG", "1")
    assert env.secret("KEY", debug_default="insecure") == "insecure"


def test_an_optional_secret_is_empty_when_not_set() -> None:
    assert env.secret("KEY", required=False) == ""


def test_every_setting_is_explained_in_the_operations_guide() -> None:
    code = "".join(path.read_text() for path in (CHECKOUT / "config").glob("*.py"))
    names = set(re.findall(r'env\.\w+\(\s*"([A-Z_]+)"', code))
    guide = (CHECKOUT / "docs/operations.md").read_text()
    assert len(names) > 10
    assert {name for name in names if f"`{name}`" not in guide} == set()
