"""Who is asking: API keys by header. The login cookie is Django's own."""

from typing import Any

import structlog
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication
from rest_framework.authentication import get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

PREFIXES = (b"token", b"bearer")


class KeyAuthentication(TokenAuthentication):
    """`Authorization: Token <key>` or `Authorization: Bearer <key>`, the same key for both."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        """The user and token of a valid key, None without a key; a bad or expired one is a 401."""
        key = key_of(get_authorization_header(request))
        if key is None:
            return None
        user, row = self.authenticate_credentials(key)
        # Of the login by cookie the middleware knows before the view; of this one nobody did.
        structlog.contextvars.bind_contextvars(user_id=user.pk)
        return user, row

    def authenticate_credentials(self, token: bytes) -> tuple[Any, Any]:
        """The user and token of a valid key. Raises AuthenticationFailed for anything else."""
        if not token.isascii():
            raise AuthenticationFailed
        return super().authenticate_credentials(token)  # type: ignore[no-any-return]

    def authenticate_header(self, request: Request) -> str:
        return "Token"


def key_of(header: bytes) -> bytes | None:
    """The key in an Authorization header of ours; None for an empty or foreign one."""
    parts = header.split()
    if len(parts) != 2 or parts[0].lower() not in PREFIXES:
        return None
    return parts[1]


class KeyScheme(OpenApiAuthenticationExtension):
    """How the schema describes an API key."""

    target_class = KeyAuthentication
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Token <key>`; `Bearer <key>` does as well.",
        }
