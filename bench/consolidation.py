"""What making episodes costs beside the model: turns a second, queries and model calls for each turn.

    python -m config.local_servers exec -- python -m bench.consolidation [--turns 10000] [--report]

The model answers at once (a function in place of the provider), so that all the time is ours. Beside it stands what one
call for each turn would take, on a tenth of the turns. Exit code 1 when there are more than 0.2 model calls a turn,
unless --report.
"""

import argparse
import os
import sys
import time
import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from unittest import mock

import django

MOST_CALLS = 0.2
TURNS_A_SESSION = 20


@dataclass
class Spent:
    """Of one way: turns, seconds, statements and calls of the model."""

    turns: int
    seconds: float
    queries: int
    calls: int

    def line(self, name: str) -> str:
        each = f"{self.queries / self.turns:6.2f} queries, {self.calls / self.turns:5.2f} model calls a turn"
        return f"{name:<28} {self.turns / self.seconds:8.0f} turns a second, {each}"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=10_000)
    parser.add_argument("--report", action="store_true", help="print the figures and judge nothing")
    options = parser.parse_args()
    os.environ |= {"DJANGO_SETTINGS_MODULE": "config.settings", "DEBUG": "0", "LOG_LEVEL": "ERROR"}
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    ours = measured(options.turns, stretch=None)
    one_each = measured(options.turns // 10, stretch=1)
    print(ours.line("stretches of a session"))  # a bench speaks to who runs it
    print(one_each.line("one call for each turn"))
    ratio = (ours.turns / ours.seconds) / (one_each.turns / one_each.seconds)
    print(f"{'ratio':<28} {ratio:8.1f} x as many turns a second")
    return int(ours.calls / ours.turns > MOST_CALLS and not options.report)


def measured(turns: int, *, stretch: int | None) -> Spent:
    """Consolidates so many turns of one person, in stretches as the product makes them or of `stretch` turns."""
    from django.contrib.auth.models import User
    from django.db import connection

    from memory import consolidation

    user = User.objects.create(username=f"bench-{uuid.uuid4().hex}")
    seeded(user, turns)
    counted = {"queries": 0, "calls": 0}

    def count(execute: Any, *arguments: Any) -> Any:
        counted["queries"] += 1
        return execute(*arguments)

    def complete(*_arguments: Any, **_options: Any) -> Any:
        counted["calls"] += 1
        return answer(counted["calls"])

    profile = mock.Mock(provider="openai")
    length = stretch or consolidation.TURNS
    with (
        mock.patch.object(consolidation.llm, "complete", complete),
        mock.patch.object(consolidation.llm, "resolve_profile", return_value=profile),
        mock.patch.object(consolidation, "TURNS", length),
        connection.execute_wrapper(count),
    ):
        began = time.perf_counter()
        while consolidation.consolidate_due_sessions(limit=50):
            pass
        seconds = time.perf_counter() - began
    user.delete()
    return Spent(turns, seconds, counted["queries"], counted["calls"])


def answer(number: int) -> Any:
    """What the model would say: another account each time."""
    from llm.types import Completion, Usage

    text = (
        f'{{"title": "第{number}批", "summary": "北斗项目第{number}批风险由李娜跟进，单号见第{number}页。",'
        '"keywords": ["北斗"], "importance": 3, "entities": [{"name": "李娜", "type": "person"},'
        '{"name": "北斗", "type": "project"}], "relations": [{"source": "李娜", "relation": "负责", "target": "北斗"}]}'
    )
    return Completion(text, "", (), Usage(900, 120), "stop", "instant")


def seeded(user: Any, turns: int) -> None:
    """Rested sessions of twenty turns."""
    from django.utils import timezone

    from memory.models import Conversation, Turn, TurnStatus

    long_ago = timezone.now() - timedelta(hours=1)
    sessions = [
        Conversation(
            user=user,
            flow_id=1,
            flow_name="bench",
            flow_version=1,
            last_seq=2 * TURNS_A_SESSION,
            last_active_at=long_ago,
        )
        for _ in range(max(turns // TURNS_A_SESSION, 1))
    ]
    Conversation.objects.bulk_create(sessions)
    Turn.objects.bulk_create(
        [
            Turn(
                conversation=session,
                user=user,
                flow_id=1,
                seq=2 * number + 1,
                input=f"北斗项目第{number}周例会，李娜负责第{number}项风险。",
                output="记下了。",
                status=TurnStatus.COMPLETE,
                finished_at=long_ago,
            )
            for session in sessions
            for number in range(TURNS_A_SESSION)
        ],
        batch_size=1000,
    )


if __name__ == "__main__":
    sys.exit(main())
