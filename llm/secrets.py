"""Secrets at rest: encrypted with a key that is derived from `SECRET_KEY`, readable after a rotation too."""

import base64

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.encoding import force_bytes

PURPOSE = b"tacit: stored secrets of model profiles"


class Unreadable(Exception):
    """The secret was encrypted under a `SECRET_KEY` that is neither today's nor among the fallbacks."""


def encrypt(secret: str) -> str:
    """`secret` as text that only `decrypt` can read; the empty text stays empty."""
    return _fernet().encrypt(secret.encode()).decode() if secret else ""


def decrypt(stored: str) -> str:
    """What `encrypt` was given. Raises Unreadable."""
    try:
        return _fernet().decrypt(stored).decode() if stored else ""
    except InvalidToken:
        raise Unreadable from None


def _fernet() -> MultiFernet:
    """Encrypts under `SECRET_KEY`, decrypts under it and `SECRET_KEY_FALLBACKS`."""
    return MultiFernet([Fernet(_derived(key)) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _derived(secret_key: str | bytes) -> bytes:
    # SECRET_KEY signs cookies as well: HKDF gives this use a key of its own.
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(force_bytes(secret_key))
    return base64.urlsafe_b64encode(derived)
