"""Whether this process lives and whether what it needs answers: `/healthz`, `/readyz`, `/metrics`."""

import time
from collections.abc import Callable

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django_redis import get_redis_connection
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from memory import window


def healthz(request: HttpRequest) -> JsonResponse:
    """200 as long as the process answers."""
    return JsonResponse({"status": "ok"})


def readyz(request: HttpRequest) -> JsonResponse:
    """Each dependency with its latency: 200 `ok`, 200 `degraded` without Redis, 503 without PostgreSQL."""
    checks = {name: _timed(check) for name, check in CHECKS.items()}
    if not checks["postgres"]["ok"]:
        status = "unavailable"
    else:
        status = "ok" if all(check["ok"] for check in checks.values()) else "degraded"
    return JsonResponse({"status": status, "checks": checks}, status=503 if status == "unavailable" else 200)


class ProbeMiddleware:
    """Answers probes before anything else looks at the request: they come by address, under no allowed host name."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        probe = PROBES.get(request.path)
        return probe(request) if probe else self.get_response(request)


def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus' text format."""
    return HttpResponse(generate_latest(), content_type=CONTENT_TYPE_LATEST)


def _timed(check: Callable[[], bool]) -> dict[str, object]:
    began = time.monotonic()
    ok = check()
    return {"ok": ok, "ms": round((time.monotonic() - began) * 1000, 1)}


def _postgres() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _redis() -> bool:
    try:
        return bool(get_redis_connection("default").ping())
    except redis.RedisError:
        return False


def _broker() -> bool:
    try:
        return bool(redis.Redis.from_url(settings.CELERY_BROKER_URL, **settings.REDIS_FAST_FAIL).ping())
    except redis.RedisError:
        return False


CHECKS: dict[str, Callable[[], bool]] = {
    "postgres": _postgres,
    "redis": _redis,
    "memory_redis": window.ping,
    "broker": _broker,
}
PROBES: dict[str, Callable[[HttpRequest], HttpResponse]] = {"/healthz": healthz, "/readyz": readyz}
