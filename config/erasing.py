"""Erasing a person: everything that any package keeps about them, and the report of what went where.

It stands up here because it reaches into every package. Which rows are theirs the models say: a table with a foreign
key to the user that is added to one of these packages later is covered too.
"""

import time
from dataclasses import replace
from typing import Any, cast

import redis
import structlog
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import transaction
from django.db.models import Q
from django_redis import get_redis_connection
from knox.models import AuthToken

from memory import window
from memory.cascade import Removed, delete_owned, delete_rows
from memory.forgetting import DECISIONS, Report, Scope, erase
from profiles.models import EvaluationReport, UserProfile

logger = structlog.get_logger(__name__)
OWN = ("memory", "flows", "knox")
"""Packages whose rows of a person go while the account stays. Those of others go with it: profile, tasks, looks.
Reports about the person go at once, shared or not."""
REDIS, AOF = "redis", "redis: append-only file"
REWRITE_SECONDS = 60.0


def erase_person(user: User, *, account: bool = False) -> Report:
    """Erases everything that is kept about `user`, and with `account` the account itself.

    First the logins end, so that nothing comes in any more; then memory goes, with running turns and both epochs
    raised; then the rest. An account stays while a store is away, because what is left to delete there is noted with
    it: `pending` names the store, and running this again finishes. Running it twice removes nothing more.
    """
    removed = _end_logins(user, account=account)
    report = erase(user, scope=Scope.ALL)
    with transaction.atomic():
        removed += delete_owned(user, packages=OWN, keep=DECISIONS)
        removed += delete_rows(EvaluationReport.objects.filter(subject=user))
    purged, throttles = window.purge(user.pk), _forget_throttles(user)
    pending = set(report.pending) | (set() if purged is not None and throttles is not None else {REDIS})
    if account and not pending:
        removed += _delete_account(user)
    if not _files_rewritten():
        pending.add(AOF)
    tables = Removed(report.tables) + removed
    keys = report.keys + (purged or 0) + (throttles or 0)
    logger.info("erased a person", user_id=user.pk, account=account, pending=sorted(pending))
    return replace(report, keys=keys, tables=dict(sorted(tables.items())), pending=sorted(pending))


def erase_name(name: str) -> Removed:
    """Deletes what is kept under a login name alone: attempts to log in. There may be no account of that name."""
    removed = Removed()
    for table in (AccessAttempt, AccessFailureLog, AccessLog):
        removed += delete_rows(table.objects.filter(username=name))
    return removed


def held(user: User, **_: Any) -> dict[str, Any]:
    """What a person's export says of their account: when API keys were made and until when, and who logged in how."""
    account = {name: getattr(user, name) for name in ("username", "email", "date_joined", "last_login")}
    keys = AuthToken.objects.filter(user=user).order_by("pk").values("created", "expiry")
    logins = AccessLog.objects.filter(username=user.get_username()).order_by("pk")
    failed = AccessFailureLog.objects.filter(username=user.get_username()).order_by("pk")
    seen = ("attempt_time", "ip_address", "user_agent")
    return {
        "account": account,
        "api_keys": list(keys),
        "logins": list(logins.values(*seen, "logout_time")),
        "failed_logins": list(failed.values(*seen)),
    }


@transaction.atomic
def _end_logins(user: User, *, account: bool) -> Removed:
    """Deletes API keys and logins of browsers; who will have no account is shut out at once."""
    if account:
        User.objects.filter(pk=user.pk).update(is_active=False)
    mine = [row.pk for row in Session.objects.iterator(chunk_size=500) if _whose(row) == str(user.pk)]
    return delete_rows(Session.objects.filter(pk__in=mine)) + delete_owned(user, packages=("knox",))


def _whose(login: Session) -> str | None:
    return login.get_decoded().get("_auth_user_id")


@transaction.atomic
def _delete_account(user: User) -> Removed:
    """Deletes the account with all that hangs on it, what is kept under its name, and what the admin noted of it."""
    kinds = [ContentType.objects.get_for_model(model) for model in (User, UserProfile)]
    person = Q(content_type__in=kinds, object_id=str(user.pk))
    removed = delete_rows(LogEntry.objects.filter(person)) + erase_name(user.get_username())
    return removed + delete_rows(User.objects.filter(pk=user.pk))


def _forget_throttles(user: User) -> int | None:
    """Deletes the counters of the throttles, which hold times of requests; None while Redis is away."""
    scopes = cast("dict[str, str]", settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"])
    keys = [cache.make_key(f"throttle_{scope}_{user.pk}") for scope in scopes]
    try:
        return int(get_redis_connection("default").delete(*keys))
    except redis.RedisError:
        return None


def _files_rewritten() -> bool:
    """Has each Redis write its append-only file anew: the old one holds what was deleted. False if one did not."""
    clients = {settings.CACHES["default"]["LOCATION"]: get_redis_connection("default")}
    is_cluster = settings.MEMORY_REDIS_URL.startswith("redis-cluster://")
    if not is_cluster:
        clients[settings.CACHES["memory"]["LOCATION"]] = get_redis_connection("memory")
    try:
        if is_cluster:
            window.rewrite_log()
        return all([_rewritten(client) for client in clients.values()])
    except redis.RedisError as error:
        logger.warning("append-only file not rewritten", error=type(error).__name__)
        return False


def _rewritten(client: Any) -> bool:
    until = time.monotonic() + REWRITE_SECONDS
    _wait_for_rewrite(client, until)  # one that runs already may have begun before
    client.bgrewriteaof()
    return _wait_for_rewrite(client, until)


def _wait_for_rewrite(client: Any, until: float) -> bool:
    busy = ("aof_rewrite_in_progress", "aof_rewrite_scheduled")
    while any(client.info("persistence").get(name) for name in busy):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True
