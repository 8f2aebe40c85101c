"""System checks: what an installation must have for memory to be safe."""

from collections.abc import Sequence
from typing import Any

import redis
from django.core.checks import CheckMessage, Warning, register
from django_redis import get_redis_connection


@register("redis", deploy=False)
def redis_keeps_memory(app_configs: Sequence[Any] | None, **options: Any) -> list[CheckMessage]:
    """Warns when the memory server may throw keys away, or forgets them in a restart.

    Nothing is lost then, for PostgreSQL holds the truth, but conversations get slower without anybody knowing.
    Managed servers refuse CONFIG, so both are read by INFO.
    """
    try:
        client = get_redis_connection("memory")
        policy = client.info("memory").get("maxmemory_policy", "noeviction")
        append_only = bool(client.info("persistence").get("aof_enabled"))
    except redis.RedisError:
        return [Warning("Redis cannot be reached.", hint="Start it, or set MEMORY_REDIS_URL.", id="tacit.W001")]
    found: list[CheckMessage] = []
    if policy != "noeviction":
        hint = "Set maxmemory-policy to noeviction."
        found.append(Warning(f"Redis evicts keys ({policy}).", hint=hint, id="tacit.W002"))
    if not append_only:
        hint = "Start it with --appendonly yes."
        found.append(Warning("Redis runs without its append-only file.", hint=hint, id="tacit.W003"))
    return found
