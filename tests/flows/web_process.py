"""Web processes as `make run` starts them, on the test's own database and Redis."""

import os
import signal
import sys
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.db import connection

from config.home import CHECKOUT, free_port
from config.processes import Process, Program, wait_until_ready
from config.supervisor import answers, web_command
from tests.doubles import ModelServer


class Site:
    """Starts web processes that share one database, one Redis and one model, and ends them all."""

    def __init__(self, folder: Path, model: ModelServer) -> None:
        self.folder, self.model = folder, model
        self.redis_url = settings.REDIS_URL
        self._running: list[WebProcess] = []

    def start(self, *, drain: int = 5) -> "WebProcess":
        """One more process, ready to serve; it lets answers end for `drain` seconds."""
        environment = os.environ | self._environment() | {"DRAIN_SECONDS": str(drain)}
        process = WebProcess(f"web{len(self._running)}", environment, self.folder, drain)
        self._running.append(process)
        return process

    def stop(self) -> None:
        for process in self._running:
            process.kill()

    def _environment(self) -> dict[str, str]:
        database = connection.settings_dict
        login = f"{quote(database['USER'])}:{quote(database['PASSWORD'])}"
        return {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "DEBUG": "1",
            "LOG_LEVEL": "WARNING",
            "DATABASE_URL": f"postgresql://{login}@{database['HOST']}:{database['PORT']}/{database['NAME']}",
            "REDIS_URL": self.redis_url,
            "CHANNEL_PREFIX": settings.CHANNEL_LAYERS["default"]["CONFIG"]["prefix"],
            "LLM_BASE_URL": self.model.base_url,
            "LLM_API_KEY": "test-key",
            "LLM_MODEL": "scripted",
        }


class WebProcess:
    """One web process; `address` is where it answers."""

    def __init__(self, name: str, environment: dict[str, str], folder: Path, drain: int) -> None:
        port = free_port(0)
        self.address = f"http://127.0.0.1:{port}"
        program = Program(
            name=name,
            argv=[sys.executable, *web_command(port, drain=drain)],
            environment=environment,
            folder=CHECKOUT,
        )
        log = folder / f"{name}.log"
        with log.open("wb") as output:
            self._process = Process(program, records=folder, output=output)
        wait_until_ready(self._process, lambda: answers(port), log=log)

    def kill(self) -> None:
        """Ends it the hard way, as a machine that fails would."""
        self._process.popen.kill()
        self._process.popen.wait()

    def ask_to_stop(self) -> None:
        self._process.popen.send_signal(signal.SIGTERM)

    def wait(self) -> None:
        """Returns when it has ended by itself."""
        self._process.popen.wait(timeout=30)
