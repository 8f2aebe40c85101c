"""Every text that people see is there in Chinese, and the compiled catalogue is the one that was written."""

import importlib.util
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import polib
import pytest

ROOT = Path(__file__).resolve().parent.parent
CATALOGUE = ROOT / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{\w*\}")


@pytest.fixture(scope="module")
def entries() -> polib.POFile:
    return polib.pofile(str(CATALOGUE))


@pytest.fixture(scope="module")
def refresh() -> ModuleType:
    """The script that keeps the catalogue; its folder has the name of a standard module."""
    spec = importlib.util.spec_from_file_location("refresh", ROOT / "locale" / "refresh.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_text_of_code_and_templates_is_translated(
    refresh: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S1: run `python locale/refresh.py` and translate what is named here."""
    if not shutil.which("xgettext"):
        pytest.skip("collecting the texts needs xgettext")
    monkeypatch.chdir(ROOT)
    left_out = shutil.ignore_patterns(*refresh.IGNORED, ".*", "__pycache__", "vendor")
    collected = polib.pofile(str(refresh.collect(shutil.copytree(ROOT, tmp_path / "copy", ignore=left_out))))
    assert [entry.msgid for entry in collected if not entry.translated()] == []
    assert {key(entry) for entry in collected} == {key(entry) for entry in polib.pofile(str(CATALOGUE))}


def test_the_compiled_catalogue_is_fresh(entries: polib.POFile) -> None:
    """The product reads the .mo and has no gettext to make it."""
    compiled = polib.mofile(str(CATALOGUE.with_suffix(".mo")))
    assert {key(entry): translation(entry) for entry in compiled} == {
        key(entry): translation(entry) for entry in entries
    }


def test_translations_keep_the_placeholders(entries: polib.POFile) -> None:
    for entry in entries:
        assert sorted(PLACEHOLDER.findall(entry.msgid)) == sorted(PLACEHOLDER.findall(translation(entry))), entry.msgid


@pytest.mark.parametrize(
    ("fault", "wrong"),
    [
        ("an exclamation mark", lambda text: "！" in text or "!" in text),
        ("a familiar 你 where 您 is due", lambda text: "你" in text),
        ("a half-width comma between Chinese characters", lambda text: bool(re.search(r"[一-龥],[一-龥]", text))),
    ],
)
def test_the_voice_is_the_products(entries: polib.POFile, fault: str, wrong: Callable[[str], bool]) -> None:
    assert [entry.msgid for entry in entries if wrong(translation(entry))] == [], fault


def key(entry: polib.POEntry | polib.MOEntry) -> tuple[str, str]:
    return (entry.msgctxt or "", entry.msgid)


def translation(entry: polib.POEntry | polib.MOEntry) -> str:
    """The Chinese text; there is one form, also where English has two."""
    return entry.msgstr or entry.msgstr_plural.get(0, "")
