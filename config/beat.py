"""What Celery beat starts, and how often. Due rows in PostgreSQL are the real queue: a lost tick costs nothing."""

from typing import Any

SCHEDULE: dict[str, dict[str, Any]] = {
    "interrupt-dead-turns": {"task": "memory.tasks.interrupt_dead_turns", "schedule": 10.0},
    "title-sessions": {"task": "memory.tasks.title_sessions", "schedule": 10.0},
    "drain-erasures": {"task": "memory.tasks.drain_erasures", "schedule": 30.0},
    "beat-heart": {"task": "config.tasks.beat_heart", "schedule": 15.0, "options": {"expires": 15}},
    "delete-expired-tokens": {"task": "flows.tasks.delete_expired_logins", "schedule": 24 * 3600.0},
}
