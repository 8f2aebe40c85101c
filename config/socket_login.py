"""Who opens a socket: by API key in the header, or by the login cookie from a page of this site."""

from collections.abc import Awaitable, Callable
from http.cookies import CookieError, SimpleCookie
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest
from django.http.request import split_domain_port, validate_host
from django.utils import translation
from rest_framework.exceptions import AuthenticationFailed

from config.authentication import KeyAuthentication, key_of
from flows import threads
from profiles.middleware import remembered_language
from profiles.models import UserProfile

Application = Callable[[dict[str, Any], Any, Any], Awaitable[None]]
Person = AbstractBaseUser | AnonymousUser


class SocketLogin:
    """Puts `user` and `language` into the scope. A page of another site is refused before it is asked who it is."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        headers = {name.decode("latin1"): value.decode("latin1") for name, value in scope["headers"]}
        key = key_of(headers.get("authorization", "").encode())
        if key is None and not _same_site(headers):
            await send({"type": "websocket.close", "code": 4403})
            return
        who = await threads.run(_user_and_language, key, headers)
        await self._application(scope | who, receive, send)


def _user_and_language(key: bytes | None, headers: dict[str, str]) -> dict[str, Any]:
    user = _user_of_cookie(headers) if key is None else _user_of_key(key)
    return {"user": user, "language": _language_of(user, headers)}


def _same_site(headers: dict[str, str]) -> bool:
    """Whether a browser's Origin is this site. Programs send none, and no browser can leave it out."""
    origin, host = headers.get("origin"), headers.get("host", "")
    if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
        return False
    # Compared as text: what is no address at all is not this site either.
    return origin is None or origin.partition("://")[2] == host or origin in settings.CSRF_TRUSTED_ORIGINS


def _user_of_key(key: bytes) -> Person:
    try:
        return KeyAuthentication().authenticate_credentials(key)[0]  # type: ignore[no-any-return]
    except AuthenticationFailed:
        return AnonymousUser()


def _user_of_cookie(headers: dict[str, str]) -> Person:
    request = HttpRequest()
    request.session = SessionStore(_cookies(headers).get(settings.SESSION_COOKIE_NAME))
    return get_user(request)


def _language_of(user: Person, headers: dict[str, str]) -> str:
    """As on the page: the language chosen in this browser, else the person's own, else what the browser asks for."""
    request = HttpRequest()
    request.COOKIES = _cookies(headers)
    request.META["HTTP_ACCEPT_LANGUAGE"] = headers.get("accept-language", "")
    profile = UserProfile.objects.filter(pk=user.pk).first()
    remembered = remembered_language(request, profile) if profile else ""
    return remembered or translation.get_language_from_request(request)


def _cookies(headers: dict[str, str]) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(headers.get("cookie", "")).items()}
    except CookieError:
        return {}
