"""Strict readers over the process environment.

A variable that is set to the empty text counts as not set, because compose files and shells pass absent
values that way. A value that cannot be read raises `ImproperlyConfigured` with the variable and the remedy.
"""

import math
import os
from pathlib import Path
from typing import TypeVar

from django.core.exceptions import ImproperlyConfigured

Number = TypeVar("Number", int, float)

YES = {"1", "true", "yes", "on"}
NO = {"0", "false", "no", "off"}


def text(name: str, *, default: str | None = None) -> str:
    """The value of `name`; without one the default, and without a default an error."""
    value = os.environ.get(name, "").strip() or default
    if value is None:
        raise ImproperlyConfigured(f"{name} is not set. Set it in the environment; see docs/operations.md.")
    return value


def flag(name: str, *, default: bool) -> bool:
    """A yes or no: 1, true, yes, on against 0, false, no, off, in any case of letters."""
    value = text(name, default="").lower()
    if not value:
        return default
    if value not in YES | NO:
        raise ImproperlyConfigured(f"{name}={value!r} is neither yes nor no. Use 1 or 0.")
    return value in YES


def number(name: str, *, default: Number, at_least: Number | None = None) -> Number:
    """A number of the default's type: a whole default asks for a whole number. Its unit is in its name."""
    value = text(name, default=str(default))
    kind = type(default)
    try:
        result = kind(value)
        finite = math.isfinite(result)
    except ValueError:
        finite = False
    if not finite:
        wanted = "a whole number" if kind is int else "a number"
        raise ImproperlyConfigured(f"{name}={value!r} is not {wanted}. Use one such as {default}.")
    if at_least is not None and result < at_least:
        raise ImproperlyConfigured(f"{name}={value!r} is too small. Use {at_least} or more.")
    return result


def words(name: str, *, default: tuple[str, ...] = ()) -> list[str]:
    """The parts of a comma-separated list, without the blanks around them and without empty ones."""
    parts = [part.strip() for part in text(name, default="").split(",")]
    return [part for part in parts if part] or list(default)


def secret(name: str, *, debug_default: str | None = None, required: bool = True) -> str:
    """A value that must not be guessed: `name` itself, or the content of the file that `name`_FILE names.

    `debug_default` stands in while DEBUG is on and never otherwise. A secret that is not required
    and not set is the empty text.
    """
    value, path = text(name, default=""), text(f"{name}_FILE", default="")
    if value and path:
        raise ImproperlyConfigured(f"{name} and {name}_FILE are both set. Keep one of them.")
    if path:
        return _secret_from_file(f"{name}_FILE", path)
    if value:
        return value
    if debug_default is not None and flag("DEBUG", default=False):
        return debug_default
    if required:
        raise ImproperlyConfigured(f"{name} is not set. Set {name}, or {name}_FILE to a file that holds it.")
    return ""


def _secret_from_file(variable: str, path: str) -> str:
    try:
        value = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ImproperlyConfigured(
            f"{variable}={path!r} cannot be read ({type(error).__name__}). Point it at a readable text file."
        ) from error
    if not value:
        raise ImproperlyConfigured(f"{variable}={path!r} is an empty file. Put the secret into it.")
    return value
