"""What the demo people have talked about before anybody logs in."""

import json
import uuid
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User
from django.utils import timezone

from flows.models import Flow
from memory.models import Conversation, TitleSource, Turn, TurnStatus

ZONE = ZoneInfo("Asia/Shanghai")
PAUSE = timedelta(minutes=4)
ANSWERED_IN = timedelta(seconds=6)


def add_history(user: User) -> None:
    """Gives a person who was just made their past conversations, dated back from today.

    Only then: whoever erased theirs must not find them again after the next start.
    """
    sessions = json.loads((Path(__file__).parent / "history.json").read_text(encoding="utf-8"))
    for session in sessions:
        if session["person"] == user.username:
            _add(user, session)


def _add(user: User, session: dict[str, Any]) -> None:
    flow = Flow.objects.get(slug=session["flow"])
    began = _moment(session)
    conversation = Conversation.objects.create(
        user=user,
        flow_id=flow.pk,
        flow_name=flow.name,
        flow_version=flow.published_version or 1,
        title=session["title"],
        title_source=TitleSource.MODEL,
        last_seq=2 * len(session["turns"]),
        seen_seq=2 * len(session["turns"]),
        created_at=began,
        last_active_at=began + PAUSE * (len(session["turns"]) - 1),
    )
    Turn.objects.bulk_create(
        Turn(
            id=uuid.uuid4(),
            conversation=conversation,
            user=user,
            flow_id=flow.pk,
            seq=2 * number + 1,
            input=question,
            output=answer,
            status=TurnStatus.COMPLETE,
            started_at=began + PAUSE * number,
            finished_at=began + PAUSE * number + ANSWERED_IN,
        )
        for number, (question, answer) in enumerate(session["turns"])
    )


def _moment(session: dict[str, Any]) -> datetime:
    day = timezone.localdate(timezone=ZONE) - timedelta(days=session["days_ago"])
    return datetime.combine(day, time.fromisoformat(session["at"]), ZONE)
