"""Which browser is driven, and how it is started."""

import os
import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)


def find() -> str | None:
    """The browser that CHROMIUM_PATH names, else the one that is installed, else None."""
    return os.environ.get("CHROMIUM_PATH") or next(filter(None, map(shutil.which, NAMES)), None)
