"""The shape of the code, as docs/architecture.md has it: sizes, names, and one door for each technology."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("config", "flows", "profiles", "memory", "llm")
LONGEST_FILE, LONGEST_FUNCTION = 400, 60
LONGEST_TEMPLATE, LONGEST_SCRIPT = 150, 250
NAMELESS = {"services", "service", "utils", "util", "helpers", "helper", "common", "misc"}
DOORS = {
    "redis": ("memory/window.py", "flows/relay.py", "config/"),
    "django_redis": ("memory/window.py", "flows/relay.py", "config/"),
    "openai": ("llm/",),
    "neo4j": ("memory/episodes/neo4j.py",),
    "mcp": ("flows/mcp/",),
}
"""The only places that import each of these, beside tests and benches."""
HARMLESS = {"redis.exceptions"}
"""Needed by whoever uses the channel layer, which raises them; nobody talks to a server with these."""


def files(*folders: str, pattern: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted((ROOT / folder).rglob(pattern))


def modules(*folders: str) -> list[Path]:
    """Our Python files, without what Django writes."""
    return [path for path in files(*folders, pattern="*.py") if "migrations" not in path.parts]


CODE = [ROOT / "manage.py", ROOT / "celery_app.py", *modules(*PACKAGES, "tests", "bench")]
PRODUCT = [path for path in CODE if path.relative_to(ROOT).parts[0] not in ("tests", "bench")]


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def too_long(paths: list[Path], limit: int) -> list[str]:
    return [f"{place(path)}: {lines(path)} lines" for path in paths if lines(path) > limit]


def test_no_file_is_longer_than_a_reader_keeps_in_mind() -> None:
    assert too_long(CODE, LONGEST_FILE) == []


def test_no_function_is_longer_than_a_screen() -> None:
    found = [
        f"{place(path)}: {node.name}"
        for path in CODE
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= LONGEST_FUNCTION
    ]
    assert found == []


def test_no_template_is_too_long() -> None:
    templates = [path for path in files("templates", *PACKAGES, pattern="*.html")]
    assert len(templates) > 10
    assert too_long(templates, LONGEST_TEMPLATE) == []


def test_no_script_is_too_long() -> None:
    scripts = [path for path in files("static", pattern="*.js") if "vendor" not in path.parts]
    assert len(scripts) > 5
    assert too_long(scripts, LONGEST_SCRIPT) == []


def test_every_file_is_named_for_what_it_knows() -> None:
    assert [place(path) for path in CODE if NAMELESS & {path.stem, path.parent.name}] == []


def test_every_module_says_why_it_exists() -> None:
    """An empty `__init__.py` has nothing to say, and an `apps.py` says it in its one class."""
    silent = [
        place(path) for path in PRODUCT if lines(path) and path.name != "apps.py" and not ast.get_docstring(tree(path))
    ]
    assert silent == []


@pytest.mark.parametrize("package", DOORS)
def test_each_technology_has_one_door(package: str) -> None:
    """Architecture rule 4."""
    strangers = [
        place(path)
        for path in PRODUCT
        if package in {name.split(".")[0] for name in set(imported(path)) - HARMLESS}
        and not place(path).startswith(DOORS[package])
    ]
    assert strangers == []


def imported(path: Path) -> Iterator[str]:
    """The names of the modules that a file imports, wherever in it."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
