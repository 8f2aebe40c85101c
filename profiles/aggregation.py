"""Counting: the figures of profiles, from what happened. One statement for any number of people.

A figure is computed anew from the events each time, so that counting twice, or in two workers at once, changes nothing;
a row is written only where something differs, and only then does its version rise.
"""

from collections.abc import Sequence

from django.db import connection, transaction

FAVOURITES = 5
HOURS_FROM = 10
"""Turns below which nothing is said about hours."""
SECONDS_LATE = 10
"""How late a fact may become visible whose transaction was slow."""
_SOME = "(%(users)s::int[] IS NULL OR {column} = ANY(%(users)s))"
_PEOPLE = f"""
    people AS MATERIALIZED (
        SELECT p.user_id, p.time_zone, md5(ROW(
            p.display_name, p.position, p.department_id, d.name, p.manager_id, p.aliases, p.role_tags, p.time_zone,
            p.preferred_language, p.preferred_llm_model, p.communication_tone, tags.said)::text) AS basis
        FROM profiles_userprofile p
        LEFT JOIN profiles_department d ON d.id = p.department_id
        LEFT JOIN (
            SELECT user_id, string_agg(ROW(kind, value, shared, count)::text, ' ' ORDER BY kind, key) AS said
            FROM profiles_profiletag WHERE status = 'confirmed' AND {_SOME.format(column="user_id")} GROUP BY user_id
        ) tags ON tags.user_id = p.user_id
        WHERE {_SOME.format(column="p.user_id")}
    )
"""  # noqa: S608  # constants alone, here and below
_USES = f"""
    uses AS MATERIALIZED (
        SELECT u.user_id, u.flow_id, u.flow_name, u.session_id, u.at,
            extract(hour FROM u.at AT TIME ZONE p.time_zone)::int AS hour
        FROM profiles_flowuse u JOIN people p ON p.user_id = u.user_id WHERE {_SOME.format(column="u.user_id")}
    ), talk AS (
        SELECT user_id, count(*) AS turns, count(DISTINCT session_id) AS sessions, max(at) AS latest
        FROM uses GROUP BY user_id
    ), flow AS (
        SELECT user_id, flow_id, count(*) AS times, (array_agg(flow_name ORDER BY at DESC))[1] AS flow_name,
            row_number() OVER (PARTITION BY user_id ORDER BY count(*) DESC, flow_id) AS place
        FROM uses GROUP BY user_id, flow_id
    ), flows AS (
        SELECT user_id, count(*) AS known, jsonb_agg(
            jsonb_build_object('flow_id', flow_id, 'flow_name', flow_name, 'count', times) ORDER BY place
        ) FILTER (WHERE place <= {FAVOURITES}) AS favourites
        FROM flow GROUP BY user_id
    ), hour AS (
        SELECT user_id, hour, count(*) AS turns, max(count(*)) OVER (PARTITION BY user_id) AS most
        FROM uses GROUP BY user_id, hour
    ), hours AS (
        SELECT user_id, jsonb_agg(hour ORDER BY hour) FILTER (WHERE turns * 2 >= most) AS busy
        FROM hour GROUP BY user_id
    )
"""  # noqa: S608
_WORK = f"""
    work AS (
        SELECT assignee_id AS user_id, count(*) AS assigned, count(*) FILTER (WHERE status <> 'cancelled') AS counted,
            count(*) FILTER (WHERE status = 'done') AS done,
            avg(extract(epoch FROM completed_at - created_at) / 3600.0) FILTER (WHERE status = 'done') AS mean
        FROM profiles_worktask WHERE {_SOME.format(column="assignee_id")} GROUP BY assignee_id
    ), given AS (
        SELECT creator_id AS user_id, count(*) AS tasks
        FROM profiles_worktask WHERE creator_id IS NOT NULL AND {_SOME.format(column="creator_id")} GROUP BY creator_id
    )
"""  # noqa: S608
_FIGURES = {
    "total_conversations": "coalesce(talk.sessions, 0)",
    "total_workflows_used": "coalesce(flows.known, 0)",
    "favorite_workflows": "coalesce(flows.favourites, '[]')",
    "preferred_work_hours": f"CASE WHEN talk.turns >= {HOURS_FROM} THEN hours.busy ELSE '[]' END",
    "turns_counted": "coalesce(talk.turns, 0)",
    "total_tasks_assigned": "coalesce(work.assigned, 0)",
    "total_tasks_created": "coalesce(given.tasks, 0)",
    "tasks_counted": "coalesce(work.counted, 0)",
    "tasks_done": "coalesce(work.done, 0)",
    "avg_task_completion_h": "round(work.mean, 2)::float8",
    "task_completion_rate": "round(work.done::numeric / nullif(work.counted, 0), 4)::float8",
    "last_conversation_at": "talk.latest",
    "basis": "people.basis",
}
_NAMES = ", ".join(_FIGURES)
_COUNT = f"""
    WITH {_PEOPLE}, {_USES}, {_WORK}
    INSERT INTO profiles_figures AS old
        (user_id, {_NAMES}, profile_version, last_updated_at, checked_at, insight_failures)
    SELECT people.user_id, {", ".join(_FIGURES.values())}, 1, now(), now() - interval '{SECONDS_LATE} seconds', 0
    FROM people
    LEFT JOIN talk USING (user_id) LEFT JOIN flows USING (user_id) LEFT JOIN hours USING (user_id)
    LEFT JOIN work USING (user_id) LEFT JOIN given USING (user_id)
    ORDER BY people.user_id
    ON CONFLICT (user_id) DO UPDATE SET
        {", ".join(f"{name} = EXCLUDED.{name}" for name in _FIGURES)},
        profile_version = old.profile_version + 1, last_updated_at = now(), checked_at = EXCLUDED.checked_at
    WHERE ({", ".join(f"old.{name}" for name in _FIGURES)})
        IS DISTINCT FROM ({", ".join(f"EXCLUDED.{name}" for name in _FIGURES)})
"""  # noqa: S608
_CHECKED = f"""
    UPDATE profiles_figures SET checked_at = now() - interval '{SECONDS_LATE} seconds' WHERE user_id = ANY(%(users)s)
"""  # noqa: S608
# Events of a day at most are looked at: what beat missed for longer, the night counts.
_CHANGED = """
    WITH event AS (
        SELECT user_id, at FROM profiles_flowuse WHERE at > now() - interval '1 day'
        UNION ALL
        SELECT person.user_id, e.at FROM profiles_workevent e JOIN profiles_worktask t ON t.id = e.task_id
        CROSS JOIN LATERAL (VALUES (t.assignee_id), (t.creator_id)) AS person (user_id)
        WHERE e.at > now() - interval '1 day'
    )
    SELECT event.user_id FROM event JOIN profiles_userprofile p ON p.user_id = event.user_id
    LEFT JOIN profiles_figures f ON f.user_id = event.user_id
    GROUP BY event.user_id, f.checked_at
    HAVING f.checked_at IS NULL OR max(event.at) > f.checked_at
    ORDER BY event.user_id
"""


def aggregate(users: Sequence[int] | None = None) -> int:
    """Counts anew for these users, or for everybody; how many profiles changed."""
    if users is not None and not users:
        return 0
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_COUNT, {"users": None if users is None else sorted(users)})
        changed: int = cursor.rowcount
        if users is not None:
            cursor.execute(_CHECKED, {"users": sorted(users)})
    return changed


def aggregate_changed() -> int:
    """Counts anew for those for whom something happened since; how many profiles changed."""
    with connection.cursor() as cursor:
        cursor.execute(_CHANGED)
        users = [row[0] for row in cursor.fetchall()]
    return aggregate(users)
