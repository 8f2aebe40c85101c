"""What Celery beat starts, and how often. Due rows in PostgreSQL are the real queue: a lost tick costs nothing."""

from typing import Any

from celery.schedules import crontab

SCHEDULE: dict[str, dict[str, Any]] = {
    "interrupt-dead-turns": {"task": "memory.tasks.interrupt_dead_turns", "schedule": 10.0},
    "title-sessions": {"task": "memory.tasks.title_sessions", "schedule": 10.0},
    "index-turns": {"task": "memory.tasks.index_turns", "schedule": 10.0, "options": {"expires": 10}},
    "renew-index": {"task": "memory.tasks.renew_index", "schedule": 600.0, "options": {"expires": 600}},
    "fold-summaries": {"task": "memory.tasks.fold_summaries", "schedule": 10.0},
    "consolidate-sessions": {
        "task": "memory.tasks.consolidate_sessions",
        "schedule": 10.0,
        "options": {"expires": 10},
    },
    "finish-deletions": {"task": "memory.tasks.finish_deletions", "schedule": 10.0, "options": {"expires": 10}},
    "drain-erasures": {"task": "memory.tasks.drain_erasures", "schedule": 30.0},
    "count-changed": {"task": "profiles.tasks.count_changed", "schedule": 60.0, "options": {"expires": 60}},
    "notice": {"task": "profiles.tasks.notice", "schedule": 60.0, "options": {"expires": 60}},
    "tell-of-overdue-work": {
        "task": "profiles.tasks.tell_of_overdue_work",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "make-reports": {"task": "profiles.tasks.make_reports", "schedule": 3.0, "options": {"expires": 3}},
    "sweep-access-log": {"task": "profiles.tasks.sweep_access_log", "schedule": 24 * 3600.0},
    "beat-heart": {"task": "config.tasks.beat_heart", "schedule": 15.0, "options": {"expires": 15}},
    "delete-expired-tokens": {"task": "flows.tasks.delete_expired_logins", "schedule": 24 * 3600.0},
    # By night where most are: 03:10 in Shanghai. One that was missed is made up for when beat starts again.
    "merge-memories": {"task": "memory.tasks.merge_memories", "schedule": crontab(hour=19, minute=10)},
    "archive-memories": {"task": "memory.tasks.archive_memories", "schedule": crontab(hour=19, minute=40)},
    "count-everybody": {"task": "profiles.tasks.count_everybody", "schedule": crontab(hour=19, minute=55)},
    "sweep-suggestions": {"task": "profiles.tasks.sweep_suggestions", "schedule": crontab(hour=20, minute=0)},
    "sweep-transcripts": {"task": "memory.tasks.sweep_transcripts", "schedule": crontab(hour=20, minute=10)},
}
