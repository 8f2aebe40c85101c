"""TACIT_HOME: the folder that holds everything a local installation keeps, with one owner at a time."""

import contextlib
import fcntl
import os
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent


class StartError(Exception):
    """Something could not be started. The text says what, and what to do about it."""


def chosen_home() -> Path:
    """The folder named by TACIT_HOME, or `.tacit` in the checkout."""
    return Path(os.environ.get("TACIT_HOME") or CHECKOUT / ".tacit").expanduser().resolve()


@contextlib.contextmanager
def owned(home: Path) -> Iterator[None]:
    """Hold the folder, which exists. Raises `StartError` while another process does."""
    try:
        descriptor = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise StartError(f"{home}: {error.strerror}. Set TACIT_HOME to a folder of yours.") from error
    with os.fdopen(descriptor, "r+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = lock.read().strip()
            raise StartError(
                f"{home} is in use by process {owner}. Stop that one, or set TACIT_HOME to another folder."
            ) from None
        lock.truncate()
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield


def kept_secret(path: Path) -> str:
    """The random secret in this file, made on first use."""
    if not path.exists():
        write_private(path, secrets.token_urlsafe(48))
    return path.read_text(encoding="utf-8").strip()


def kept_port(path: Path) -> int:
    """A free port of 127.0.0.1: that of last time, when nobody has taken it since."""
    last = path.read_text(encoding="utf-8") if path.exists() else ""
    port = (last.isdecimal() and free_port(int(last))) or free_port(0)
    write_private(path, str(port))
    return port


def free_port(wanted: int) -> int:
    """`wanted` when this user can have it on 127.0.0.1, any free one for 0; 0 when there is none."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", wanted))
        except (OSError, OverflowError):
            return 0
        return int(probe.getsockname()[1])


def write_private(path: Path, content: str) -> None:
    """Write a file whole or not at all, readable by its owner alone."""
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(content)
    draft.replace(path)
