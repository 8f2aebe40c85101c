"""The project's own PostgreSQL and Redis, unless DATABASE_URL or REDIS_URL name running ones.

`python -m config.local_servers exec -- COMMAND` runs a command beside empty servers that go when it ends.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from config.home import StartError, kept_secret, owned
from config.local_postgres import LocalPostgres
from config.local_redis import LocalRedis
from config.orphans import end_leftovers
from config.processes import (
    STOP_SIGNALS,
    Process,
    dies_with_owner,
    exit_on_signals,
    ignore_signals,
    signals_held_back,
)
from config.server_account import ServerAccount


@dataclass
class Servers:
    """`environment` is what a Tacit program needs to use the servers, `processes` those that we started."""

    environment: dict[str, str]
    processes: list[Process] = field(default_factory=list)

    def take(self, variable: str) -> bool:
        """Take over a value, or the file that holds it, from our own environment; False when it has neither."""
        given = {name: os.environ[name] for name in (variable, f"{variable}_FILE") if os.environ.get(name)}
        self.environment |= given
        return bool(given)


@contextlib.contextmanager
def local_servers(home: Path, *, throwaway: bool = False) -> Iterator[Servers]:
    """Own the folder `home`, run the servers in it, stop them in the end. Raises `StartError`.

    With `throwaway` they are faster and do not survive a power cut.
    """
    make_home(home)
    with owned(home), contextlib.ExitStack() as running:
        records = home / "processes"
        end_leftovers(records)
        servers = Servers({"TACIT_HOME": str(home), "DEBUG": os.environ.get("DEBUG") or "1"})
        if not servers.take("SECRET_KEY"):
            kept_secret(home / "secret_key")
            servers.environment["SECRET_KEY_FILE"] = str(home / "secret_key")
        for variable, kind, folder in (
            ("DATABASE_URL", LocalPostgres, home / "postgres"),
            ("REDIS_URL", LocalRedis, home / "redis"),
        ):
            if not servers.take(variable):
                server = kind(folder, records=records, throwaway=throwaway)
                running.callback(server.stop)
                servers.processes.append(server.start())
                servers.environment[variable] = server.url
        yield servers


def make_home(home: Path) -> None:
    """Make the folder if need be, closed to others but for the account that PostgreSQL runs under."""
    try:
        if not home.exists():
            home.mkdir(mode=0o700, parents=True)
            ServerAccount.find().let_through(home)
        (home / "processes").mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise StartError(f"{home}: {error.strerror}. Set TACIT_HOME to a folder of yours.") from error


@contextlib.contextmanager
def throwaway_servers() -> Iterator[Servers]:
    """Servers with empty stores, in a folder that is removed in the end."""
    home = Path(tempfile.mkdtemp(prefix="tacit-"))
    try:
        ServerAccount.find().let_through(home)
        with local_servers(home, throwaway=True) as servers:
            yield servers
    finally:
        shutil.rmtree((home / "postgres").resolve(), ignore_errors=True)  # it may stand elsewhere
        shutil.rmtree(home, ignore_errors=True)


def run_beside_servers(command: list[str]) -> int:
    """Run the command beside throwaway servers, hand on the signals that we get, return its exit code."""
    with throwaway_servers() as servers:
        process = start(command, os.environ | servers.environment)
        try:
            code = process.wait()
        finally:
            process.kill()
    return code if code >= 0 else 128 - code


def start(command: list[str], environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    """Start the command in our place on the terminal; from now on it gets the requests to stop that we get."""
    try:
        with signals_held_back():
            process = subprocess.Popen(  # noqa: S603  # the caller's own command line
                command, env=environment, preexec_fn=dies_with_owner(signal.SIGTERM)
            )
            ignore_signals()
            for signum in STOP_SIGNALS:
                # A terminal sends Ctrl-C to the command too, and a second one would make it stop less cleanly.
                if signum != signal.SIGINT or not (sys.stdin and sys.stdin.isatty()):
                    signal.signal(signum, lambda signum, _: process.send_signal(signum))
    except OSError as error:
        raise StartError(f"{command[0]}: {error.strerror}") from error
    return process


def main(arguments: list[str]) -> int:
    """The command line."""
    if arguments[:2] != ["exec", "--"] or not arguments[2:]:
        sys.exit("usage: python -m config.local_servers exec -- COMMAND [ARGUMENT ...]")
    exit_on_signals()
    try:
        return run_beside_servers(arguments[2:])
    except StartError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
