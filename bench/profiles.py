"""What counting profiles costs: everybody's figures anew, on a PostgreSQL of its own.

    python -m bench.profiles [--users N] [--report]

1,000 and 10,000 people with 100 events each, 95 turns and 5 tasks; `--users 100000` adds a larger size. The time per
person must not grow by more than half from the smallest size to the largest, the number of statements must be the same,
and counting again must change nothing. Exit code 1 when a target is missed, unless --report.
"""

import argparse
import os
import subprocess
import sys
import time

import django

from config.local_servers import throwaway_servers

SIZES = (1_000, 10_000)
GROWTH = 1.5
"""How much longer one person may take among many than among few."""
MAKE = """
INSERT INTO auth_user
    (username, password, is_active, is_staff, is_superuser, first_name, last_name, email, date_joined)
SELECT 'counted' || n, '', true, false, false, '', '', '', now() FROM generate_series({first}, {last}) n;
INSERT INTO profiles_userprofile (user_id, display_name, position, aliases, role_tags, time_zone, preferred_language,
    preferred_llm_model, communication_tone, created_at)
SELECT id, username, '', '{{}}', '{{}}', 'Asia/Shanghai', '', '', '', now()
FROM auth_user WHERE id NOT IN (SELECT user_id FROM profiles_userprofile);
INSERT INTO profiles_flowuse (turn_id, user_id, session_id, flow_id, flow_name, model, at)
SELECT gen_random_uuid(), u.id, md5(u.id || '-' || n / 5)::uuid, n % 7, 'flow ' || n % 7, 'm',
    now() - n * interval '5 h'
FROM auth_user u, generate_series(1, 95) n WHERE NOT EXISTS (SELECT 1 FROM profiles_flowuse f WHERE f.user_id = u.id);
INSERT INTO profiles_worktask (title, description, assignee_id, creator_id, status, created_at, completed_at)
SELECT 'task', '', u.id, u.id, CASE WHEN n < 4 THEN 'done' ELSE 'open' END, now() - n * interval '2 d',
    CASE WHEN n < 4 THEN now() - n * interval '1 d' END
FROM auth_user u, generate_series(1, 5) n
WHERE NOT EXISTS (SELECT 1 FROM profiles_worktask t WHERE t.assignee_id = u.id);
ANALYZE;
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--users", type=int, help="a larger size besides")
    parser.add_argument("--report", action="store_true", help="print the figures and judge nothing")
    parser.add_argument("--here", action="store_true", help="on the empty servers of the environment")
    options = parser.parse_args()
    if options.here:
        sizes = sorted({*SIZES, *([options.users] if options.users else [])})
        return measure(sizes) and not options.report
    for name in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(name, None)
    with throwaway_servers() as servers:
        environment = os.environ | servers.environment | {"DEBUG": "0", "LOG_LEVEL": "ERROR", "EMBEDDING_MODEL": "none"}
        subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], env=environment, check=True)
        command = [sys.executable, "-m", "bench.profiles", "--here", *sys.argv[1:]]
        return subprocess.run(command, env=environment, check=False).returncode  # noqa: S603


def measure(sizes: list[int]) -> bool:
    """Prints the figures; True when a target is missed."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.db import connection

    figures: list[tuple[float, int]] = []
    again = made = 0
    for size in sizes:
        with connection.cursor() as cursor:
            cursor.execute(MAKE.format(first=made + 1, last=size))
        made = size
        seconds, statements = counted(anew=True)
        quiet, changed = counted(anew=False)
        again += changed
        figures.append((seconds / size, statements))
        print(
            f"{size:>7,} people, {size * 100:>10,} events: {seconds:6.2f} s, {seconds / size * 1000:.3f} ms a person, "
            f"{statements} statements; again {quiet:.2f} s, {changed} changed"
        )
    growth = figures[-1][0] / figures[0][0]
    missed = {
        f"time per person grows {growth:.2f} times, target {GROWTH}": growth > GROWTH,
        f"statements {sorted({statements for _, statements in figures})}, target the same": len(
            {statements for _, statements in figures}
        )
        > 1,
        f"counting again changes {again}, target 0": again > 0,
    }
    for said, is_missed in missed.items():
        print(f"{'MISSED' if is_missed else 'ok':7}{said}")
    return any(missed.values())


def counted(*, anew: bool) -> tuple[float, int]:
    """Seconds; and how many statements when counted `anew`, else how many profiles changed."""
    from django.db import connection

    from profiles.aggregation import aggregate
    from profiles.models import Figures

    statements = 0

    def count(execute, sql, params, many, context):  # type: ignore[no-untyped-def]  # Django's own form
        nonlocal statements
        statements += 1
        return execute(sql, params, many, context)

    if anew:
        Figures.objects.all().delete()
    began = time.monotonic()
    with connection.execute_wrapper(count):
        changed = aggregate()
    return time.monotonic() - began, statements if anew else changed


if __name__ == "__main__":
    sys.exit(main())
