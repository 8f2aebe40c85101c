"""The documents say what is so: links lead somewhere, names in them exist, and their examples run."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from config.errors import STATUS
from flows.endings import SENTENCES
from flows.events import TERMINAL
from flows.models import Flow
from flows.nodes import NODE_TYPES
from flows.validation import validate
from memory.models import Turn
from tests.doubles import ModelServer
from tests.factories import make_flow
from tests.memory.hot_copy import redis, said_to
from tests.people import Person

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    path for path in ROOT.rglob("*.md") if not {"vendor", "node_modules"} & set(path.parts) and ".venv" not in str(path)
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
OWN_FILE = re.compile(r"`((?:bench|config|flows|llm|memory|profiles|tests)/[\w./-]+)`")
SETTING = re.compile(r"""env\.(?:text|flag|number|words|secret)\(\s*["'](\w+)["']""")
PLACEHOLDER = re.compile(r"<(?:\w+:)?(\w+)>")
UNWELCOME = re.compile(
    r"\b(TODO|FIXME|XXX|lorem ipsum|seamless|powerful|revolutionary|cutting[- ]edge|game[- ]chang|effortless|blazing)"
    r"|/work/|/tmp/|\bissue #?\d",
    re.IGNORECASE,
)
"""Promises, left-overs and paths of one machine."""


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def anchors(page: Path) -> set[str]:
    """The names under which the headings of a page are linked to."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_file_that_is_named_exists(page: Path) -> None:
    assert [path for path in OWN_FILE.findall(page.read_text(encoding="utf-8")) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_page_promises_too_much_or_leaves_notes_to_its_author(page: Path) -> None:
    assert [match.group() for match in UNWELCOME.finditer(page.read_text(encoding="utf-8"))] == []


def settings_read() -> set[str]:
    """The settings that the code reads from the environment."""
    return {found for path in (ROOT / "config").rglob("*.py") for found in SETTING.findall(path.read_text("utf-8"))}


def test_every_setting_of_the_environment_is_described() -> None:
    assert {setting for setting in settings_read() if f"`{setting}`" not in text("docs/operations.md")} == set()


def test_every_setting_that_is_described_is_read() -> None:
    section = text("docs/operations.md").split("\n## Settings\n")[1].split("\n## ")[0]
    rows = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
    described = {setting for row in rows for setting in re.findall(r"`(\w+)`", row)}
    assert described - settings_read() <= {"TACIT_HOME"}  # read before there are settings


def addresses(patterns: Any, before: str = "") -> Iterator[str]:
    """Every address of the API, as documents write it."""
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern) and route.startswith("api/"):
            yield "/" + PLACEHOLDER.sub(r"{\1}", route)


def test_every_address_of_the_api_is_described() -> None:
    """O4."""
    known = {address.replace("{pk}", "{id}") for address in addresses(get_resolver().url_patterns)}
    assert len(known) >= 20
    described = set(re.findall(r"`(/api/[^`?\s]*)`", text("docs/api.md")))
    assert known - described == set()
    assert described - known == set()


def test_every_target_that_documents_make_is_in_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z]+):", text("Makefile"), re.MULTILINE))
    for page in PAGES:
        made = set(re.findall(r"(?:^\s*|`|=\S+ )make ([a-z]+)", page.read_text(encoding="utf-8"), re.MULTILINE))
        assert made <= targets, page


def test_the_two_readmes_are_one_in_two_languages() -> None:
    """The same commands, links and pictures."""
    english, chinese = text("README.md"), text("README.zh-CN.md")
    shape = [[len(line) for line in re.findall(r"^#+", page, re.MULTILINE)] for page in (english, chinese)]
    assert shape[0] == shape[1]
    for pattern in (r"^make \w+|LLM_\w+=\S+", r"\]\((docs/[\w/]+\.md|\w+\.md)\)"):
        found = [re.findall(pattern, page, re.MULTILINE) for page in (english, chinese)]
        assert [link for link in found[0] if "README" not in link] == [
            link for link in found[1] if "README" not in link
        ]


def example(page: str, language: str, containing: str) -> str:
    """The one code block of a page that holds these words."""
    found = [block for kind, block in FENCE.findall(text(page)) if kind == language and containing in block]
    assert len(found) == 1
    return found[0]


def test_the_plugin_of_the_memory_page_works_as_it_stands(
    settings: Any, bob: Person, flow: Flow, model: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M13: whoever copies it has a plugin."""
    (tmp_path / "recent_only.py").write_text(example("docs/memory.md", "python", "class RecentOnly"), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    listed: dict[str, Any] = {}
    exec(example("docs/memory.md", "python", "FLOW_PLUGINS = "), listed)  # noqa: S102  # our own document
    settings.FLOW_PLUGINS = listed["FLOW_PLUGINS"]
    bob.api.patch("/api/memory/settings", json={"portrait_enabled": False})
    first = bob.says(flow, "很久以前的话")
    session_id = first["session_id"]
    bob.says(flow, "刚才的话", session_id=session_id)
    long_ago = "2020-01-01T00:00:00Z"
    Turn.objects.filter(pk=first["turn_id"]).update(started_at=long_ago, finished_at=long_ago)
    redis().flushdb()
    for words in ("从数据库读", "从副本读"):
        bob.says(flow, words, session_id=session_id)
        assert said_to(model)[:2] == ["user: 刚才的话", "assistant: 刚才的话"]
        assert said_to(model)[-1] == f"user: {words}"


def test_the_flow_of_the_flows_page_is_valid() -> None:
    validate(json.loads(example("docs/flows.md", "json", '"nodes"')))


def test_the_node_of_the_flows_page_decides_a_branch(
    bob: Person, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: dict[str, Any] = {}
    exec(example("docs/flows.md", "python", "class HasWord"), made)  # noqa: S102  # our own document
    monkeypatch.setitem(NODE_TYPES, "has_word", made["HasWord"]())
    definition = {
        "nodes": [
            {"id": "start", "type": "start"},
            {"id": "urgent", "type": "has_word", "config": {"text": "{{start.input}}", "word": "急"}},
            {"id": "now", "type": "answer", "config": {"text": "马上"}},
            {"id": "later", "type": "answer", "config": {"text": "稍后"}},
        ],
        "edges": [
            {"source": "start", "target": "urgent"},
            {"source": "urgent", "target": "now", "branch": "yes"},
            {"source": "urgent", "target": "later", "branch": "no"},
        ],
    }
    validate(definition)
    flow = make_flow(definition)
    assert [bob.says(flow, words)["output"] for words in ("很急", "不忙")] == ["马上", "稍后"]


def test_every_mistake_that_validation_tells_is_described() -> None:
    """F4."""
    calls = [node for node in ast.walk(ast.parse(text("flows/validation.py"))) if isinstance(node, ast.Call)]
    problems = [call.args for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Problem"]
    codes = {args[2].value for args in problems if isinstance(args[2], ast.Constant)}
    assert len(codes) > 8
    assert {code for code in codes if f"`{code}`" not in text("docs/flows.md")} == set()


def test_every_event_and_every_error_code_is_described() -> None:
    """S2, O4."""
    emitted = {
        kind for path in (ROOT / "flows").glob("*.py") for kind in re.findall(r'emit\("([\w.]+)"', path.read_text())
    }
    codes = SENTENCES.keys() | STATUS.keys()
    assert {word for word in emitted | TERMINAL | codes if f"`{word}`" not in text("docs/api.md")} == set()
