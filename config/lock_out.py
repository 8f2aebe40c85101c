"""Whose failed logins the lock-out counts together."""

from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle


def address(request: HttpRequest) -> str | None:
    """The client's address. X-Forwarded-For counts only as far as our own proxies wrote it (TRUSTED_PROXIES)."""
    return BaseThrottle().get_ident(Request(request))
