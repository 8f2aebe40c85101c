"""`make run` (O1): one command starts everything, and however it ends, nothing is left running."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import psycopg
import pytest

from config import supervisor
from config.home import CHECKOUT, StartError, free_port
from tests.config.processes import members
from tests.waiting import eventually

pytestmark = [pytest.mark.own_servers, pytest.mark.xdist_group("supervisor")]  # one worker: one first start

SECONDS = 180
"""Generous, for a first start beside other tests; nothing waits for it when all is well."""


class Run:
    """A supervisor in a folder of its own, and what it has printed."""

    def __init__(self, home: Path, *, port: int | None = None) -> None:
        self.home = home
        self.port = port or free_port(0)
        given = {name: value for name, value in os.environ.items() if name not in REPLACED}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "config.supervisor"],
            cwd=CHECKOUT,
            env=given | {"TACIT_HOME": str(home), "PORT": str(self.port), "DRAIN_SECONDS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.printed = ""
        self.reader = Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self) -> None:
        for line in self.process.stdout or ():
            self.printed += line.decode()

    def wait_until_ready(self) -> None:
        eventually(lambda: "Ready at" in self.printed or self.process.poll() is not None, within=SECONDS)
        assert self.process.poll() is None, self.printed

    def groups(self) -> dict[str, int]:
        records = (self.home / "processes").glob("*.pid")
        return {record.stem: int(record.read_text().split()[0]) for record in records}

    def exit_code(self) -> int:
        code = self.process.wait(SECONDS)
        self.reader.join(SECONDS)
        return code

    def end(self) -> None:
        self.process.terminate()
        self.exit_code()


REPLACED = {
    "DATABASE_URL",
    "REDIS_URL",
    "SECRET_KEY",
    "SECRET_KEY_FILE",
    "TACIT_HOME",
    "DEBUG",
    "DJANGO_SETTINGS_MODULE",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One folder for all tests, so that only the first start has to make the database."""
    home = tmp_path_factory.mktemp("home of 默契")
    yield home
    shutil.rmtree((home / "postgres").resolve(), ignore_errors=True)


@pytest.fixture
def run(home: Path) -> Iterator[Run]:
    run = Run(home)
    try:
        run.wait_until_ready()
        yield run
    finally:
        run.end()


def nothing_runs(groups: dict[str, int]) -> bool:
    return not any(members(group) for group in groups.values())


def test_one_command_starts_everything_and_ctrl_c_ends_everything(run: Run) -> None:
    groups = run.groups()
    assert set(groups) == {"postgres", "redis", "web", "worker"}
    with urllib.request.urlopen(f"http://127.0.0.1:{run.port}/healthz") as answer:
        assert json.load(answer)["status"] == "ok"
    run.process.send_signal(signal.SIGINT)
    assert run.exit_code() == 0
    assert nothing_runs(groups)
    assert f"Ready at http://127.0.0.1:{run.port}/" in run.printed
    assert "password tacit-demo" in run.printed
    for username in ("alice", "bob", "carol", "dan", "erin", "frank", "grace", "admin"):
        assert f"  {username} " in run.printed


def test_other_commands_find_the_servers_for_as_long_as_they_run(run: Run) -> None:
    note = run.home / "servers.env"
    assert note.stat().st_mode & 0o777 == 0o600
    url = subprocess.check_output(["sh", "-c", '. "$1" && printf %s "$DATABASE_URL"', "sh", str(note)], text=True)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM auth_user").fetchone() == (8,)
    run.end()
    assert not note.exists()


def test_a_second_start_on_the_same_folder_is_refused_and_disturbs_nothing(run: Run) -> None:
    second = Run(run.home)
    assert second.exit_code() == 1
    assert f"in use by process {run.process.pid}" in second.printed
    assert run.process.poll() is None
    assert (run.home / "servers.env").exists()


@pytest.mark.parametrize("victim", ["web", "redis"])
def test_when_one_of_them_dies_all_end_and_the_reason_is_said(run: Run, victim: str) -> None:
    groups = run.groups()
    os.kill(groups[victim], signal.SIGKILL)
    assert run.exit_code() == 1
    assert f"{victim} ended with code -9" in run.printed
    assert nothing_runs(groups)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a program that its parent died")
def test_a_killed_supervisor_takes_everything_with_it_and_the_next_start_works(run: Run) -> None:
    groups = run.groups()
    run.process.kill()
    eventually(lambda: nothing_runs(groups), within=60)
    again = Run(run.home)
    try:
        again.wait_until_ready()
    finally:
        again.end()
    assert again.process.returncode == 0


def test_a_port_that_was_asked_for_is_taken_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setenv("PORT", str(port))
        with pytest.raises(StartError, match=f"Port {port} is in use"):
            supervisor.choose_port()
    assert supervisor.choose_port() == port


def test_without_a_wish_the_next_free_port_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PORT", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(supervisor, "PORTS", range(port, port + 50))
        assert supervisor.choose_port() in range(port + 1, port + 50)
