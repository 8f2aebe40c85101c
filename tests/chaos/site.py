"""The product as it runs for real: its own PostgreSQL and Redis, two web processes, a worker with beat."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from config.home import free_port
from config.local_postgres import LocalPostgres
from config.local_redis import LocalRedis

UVICORN = (sys.executable, "-m", "uvicorn", "config.asgi:application", "--log-level", "error", "--lifespan", "on")
CELERY = (sys.executable, "-m", "celery", "-A", "celery_app", "worker", "-B", "-Q", "memory,people,default")


class Site:
    """Its parts by name: `web0`, `web1`, `worker`, `redis`."""

    def __init__(self, folder: Path, model_url: str) -> None:
        self.folder = folder
        self.postgres = LocalPostgres(folder / "postgres", records=folder)
        self.redis = LocalRedis(folder / "redis", records=folder)
        self._model_url = model_url
        self._programs: dict[str, subprocess.Popen[bytes]] = {}
        self.ports = {"web0": free_port(0), "web1": free_port(0)}

    def start(self) -> None:
        """Starts everything, migrates, and waits until both web processes answer."""
        self.postgres.start()
        self.redis.start()
        subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], env=self.environment, check=True)
        for name in ("web0", "web1", "worker"):
            self.launch(name)
        for name in self.ports:
            self.wait_for(name)

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {
            "DATABASE_URL": self.postgres.url,
            "REDIS_URL": self.redis.url,
            "SECRET_KEY": "chaos",
            "DEBUG": "1",
            "LOG_LEVEL": "ERROR",
            "DRAIN_SECONDS": "5",
            "LLM_BASE_URL": self._model_url,
            "LLM_API_KEY": "chaos",
            "LLM_MODEL": "chaos",
        }

    def launch(self, name: str) -> None:
        command = (*CELERY, "-l", "error", "-s", str(self.folder / "beat"), "--concurrency", "1")
        if name in self.ports:
            command = (*UVICORN, "--port", str(self.ports[name]), "--timeout-graceful-shutdown", "6")
        log = (self.folder / f"{name}.log").open("ab")
        self._programs[name] = subprocess.Popen(
            command, env=self.environment, stdout=log, stderr=log, start_new_session=True
        )

    def end(self, name: str, how: signal.Signals) -> None:
        """Sends a signal to a part and waits until it is gone."""
        program = self._programs[name]
        os.killpg(program.pid, how)
        try:
            program.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(program.pid, signal.SIGKILL)
            program.wait()

    def restart(self, name: str, how: signal.Signals) -> None:
        self.end(name, how)
        self.launch(name)
        if name in self.ports:
            self.wait_for(name)

    def restart_redis(self) -> None:
        """Kills Redis the hard way and brings it back with what its append-only file holds."""
        assert self.redis.process
        self.redis.process.popen.kill()
        self.redis.process.popen.wait()
        self.redis.start()

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self.ports[name]}"

    def wait_for(self, name: str) -> None:
        for _ in range(600):
            try:
                with urlopen(f"{self.address(name)}/healthz", timeout=2):  # noqa: S310  # our own address
                    return
            except HTTPError:
                return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"{name} does not answer")

    def stop(self) -> None:
        for name in self._programs:
            self.end(name, signal.SIGKILL)
        self.redis.stop()
        self.postgres.stop()
