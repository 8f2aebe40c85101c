"""`make run`: PostgreSQL, Redis, web, worker and beat under one owner, who stops them all when one ends."""

import http.client
import os
import shlex
import subprocess
import sys
import time
from io import TextIOWrapper
from pathlib import Path
from threading import Thread

from django.core.exceptions import ImproperlyConfigured

from config import env
from config.console import follow, say
from config.demo.people import PASSWORD, PEOPLE
from config.home import CHECKOUT, StartError, chosen_home, free_port, write_private
from config.local_servers import Servers, local_servers
from config.processes import Process, Program, StopAsked, exit_on_signals, ignore_signals, wait_until_ready

PORTS = range(8000, 8100)
DRAIN_SECONDS = 5
LAST_LINES_SECONDS = 2
LARGEST_FRAME = 4 * 1024 * 1024
"""Bytes of one message of a WebSocket: a question of the longest allowed length in any script."""


class Supervisor:
    """The programs of one installation, started in order and ended together."""

    def __init__(self, home: Path, servers: Servers) -> None:
        self.home = home
        self.servers = servers
        self.drain = env.number("DRAIN_SECONDS", default=DRAIN_SECONDS, at_least=0)
        self.environment = os.environ | servers.environment
        self.environment |= {"DRAIN_SECONDS": str(self.drain), "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}
        self.running: dict[Process, Thread] = {}

    def run(self) -> None:
        """Start everything and watch it. It ends by a request to stop, or by `StartError`."""
        port = choose_port()
        self.note_environment()
        self.prepare()
        web = self.start("web", web_command(port, drain=self.drain), grace=2 * self.drain + 15)
        wait_until_ready(web, lambda: answers(port))
        self.start("worker", worker_command(self.home))  # after the web, whose start it would slow down
        say(f"Ready at http://127.0.0.1:{port}/ with its data in {self.home}\nCtrl-C stops it.")
        if env.flag("DEBUG", default=True):
            say(demo_logins())
        self.watch()

    def note_environment(self) -> None:
        """Write down how other commands of this installation reach the servers, for as long as they run."""
        lines = [f"export {name}={shlex.quote(value)}\n" for name, value in self.servers.environment.items()]
        write_private(self.home / "servers.env", "".join(lines))

    def prepare(self) -> None:
        """Bring the database up to date. Raises `StartError` when that fails."""
        preparing = self.start("prepare", ["-m", "config.prepare"])
        code = preparing.popen.wait()
        self.end(preparing)
        if code != 0:
            raise StartError("The database could not be brought up to date. The lines above say why.")

    def start(self, name: str, arguments: list[str], *, grace: float = 15) -> Process:
        """Start a Python program of ours and show what it prints."""
        program = Program(
            name=name,
            argv=[sys.executable, *arguments],
            environment=self.environment,
            folder=CHECKOUT,
            grace=grace,
        )
        process = Process(program, records=self.home / "processes", output=subprocess.PIPE)
        self.running[process] = follow(process)
        return process

    def end(self, process: Process) -> None:
        """Stop a program; when this returns, its last line is shown."""
        process.stop()
        self.running.pop(process).join(LAST_LINES_SECONDS)

    def watch(self) -> None:
        """Wait for the end of any program or server, which is the end of all: `StartError`."""
        while True:
            for process in (*self.running, *self.servers.processes):
                if (code := process.exit_code()) is not None:
                    raise StartError(f"{process.program.name} ended with code {code}: stopping everything.")
            time.sleep(0.2)

    def stop(self) -> None:
        """End the programs, side by side because each may take its time. The servers end after them."""
        for process in self.running:
            process.ask_to_stop()
        for process in reversed(list(self.running)):
            self.end(process)
        (self.home / "servers.env").unlink(missing_ok=True)


def demo_logins() -> str:
    """Who can log in to the demo, one line each."""
    lines = [f"Log in with the password {PASSWORD} as"]
    for person in PEOPLE:
        above = f", reports to {person.manager}" if person.manager else ""
        lines.append(f"  {person.username:5}  {person.name}, {person.position}, {person.department}{above}")
    return "\n".join(lines)


def choose_port() -> int:
    """The port that PORT asks for, or the first free one of `PORTS`."""
    wanted = env.number("PORT", default=0, at_least=0)
    if wanted and not free_port(wanted):
        raise StartError(
            f"Port {wanted} is in use or not allowed. Set PORT to another, or to none for the next free one."
        )
    port = wanted or next(filter(free_port, PORTS), 0)
    if not port:
        raise StartError(f"Every port from {PORTS.start} to {PORTS.stop - 1} is in use. Set PORT to a free one.")
    return port


def web_command(port: int, *, drain: int) -> list[str]:
    """The web server; `drain` is how many seconds answers that are being written get to end."""
    return [
        *("-m", "uvicorn", "config.asgi:application"),
        *("--lifespan", "on", "--host", "127.0.0.1", "--port", str(port)),
        # Compressing frames of a few words costs more than it saves.
        *("--ws-max-size", str(LARGEST_FRAME), "--ws-per-message-deflate", "false"),
        *("--timeout-graceful-shutdown", str(drain)),
        # Django counts the proxies itself; uvicorn would believe whoever asks from this machine.
        "--no-proxy-headers",
        *("--no-access-log", "--log-level", "warning"),
    ]


def worker_command(home: Path) -> list[str]:
    """The worker of all queues, with the beat inside, which is right for exactly one worker."""
    return [
        *("-m", "celery", "--quiet", "-A", "celery_app", "worker", "--beat"),
        *("--schedule", str(home / "beat-schedule"), "--queues", "memory,people,default"),
        *("--concurrency", "2", "--without-gossip", "--without-mingle", "--loglevel", "warning"),
    ]


def answers(port: int) -> bool:
    """Whether the web server takes requests and is not broken."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status < 500
    except OSError:
        return False
    finally:
        connection.close()


def main() -> None:
    """Run until somebody asks to stop, which is a success, or until something ends by itself: exit code 1."""
    exit_on_signals()
    if isinstance(sys.stdout, TextIOWrapper):  # a terminal may not know every character
        sys.stdout.reconfigure(errors="replace")
    home = chosen_home()
    try:
        with local_servers(home) as servers:
            supervisor = Supervisor(home, servers)
            try:
                supervisor.run()
            finally:
                ignore_signals()
                say("Stopping.")
                supervisor.stop()
    except (StartError, ImproperlyConfigured) as error:
        say(str(error))
        sys.exit(1)
    except StopAsked:
        say("Stopped.")


if __name__ == "__main__":
    main()
