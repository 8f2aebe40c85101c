"""What the demo people have used, and what was noticed about Bob, before anybody logs in."""

import uuid
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User
from django.utils import timezone

from flows.models import Flow
from memory.models import Episode
from memory.remembering import remember
from profiles.aggregation import aggregate
from profiles.models import FlowUse, ProfileTag, TagKind, TagStatus, tag_key

ZONE = ZoneInfo("Asia/Shanghai")
DAYS = 60
USES = {
    "bob": (("assistant", 46), ("weekly-report", 16), ("translate-polish", 7)),
    "alice": (("assistant", 31), ("weekly-report", 18), ("translate-polish", 12)),
    "dan": (("assistant", 22), ("weekly-report", 9)),
    "erin": (("assistant", 27), ("translate-polish", 14)),
    "grace": (("assistant", 12), ("translate-polish", 19)),
}
"""How often each flow was used; three turns make a conversation."""
HOURS = (9, 10, 10, 11, 14, 15, 15, 16, 17, 20)

MEMORIES = (
    "北斗项目联调先列接口清单，再逐个核对返回码。",
    "周报先写结论，再写数字，最后写下周计划。",
    "AB-1203 到货推迟，给顾总的说明只写一页，先说影响。",
    "登录超时的缺陷定位到连接池，复盘笔记写了三条改法。",
)
TAGS = (
    (TagKind.STYLE, "注重细节", TagStatus.CONFIRMED, True, (0, 3)),
    (TagKind.STYLE, "结论先行", TagStatus.CONFIRMED, False, (1, 2)),
    (TagKind.STYLE, "先列清单", TagStatus.SUGGESTED, True, (0,)),
    (TagKind.EXPERTISE, "接口联调", TagStatus.CONFIRMED, True, (0,)),
    (TagKind.EXPERTISE, "性能排查", TagStatus.SUGGESTED, True, (3,)),
    (TagKind.TOPIC, "北斗项目", TagStatus.CONFIRMED, True, (0, 2)),
    (TagKind.TOPIC, "登录超时", TagStatus.SUGGESTED, True, (3,)),
    (TagKind.TONE, "简短直白", TagStatus.SUGGESTED, True, (2,)),
)
"""Kind, value, what Bob said of it, whether his manager sees it, and the memories that show it."""


def add_profiles(people: dict[str, User]) -> None:
    """Gives people who were just made a past to count, and Bob what was noticed about him."""
    flows = {flow.slug: flow for flow in Flow.objects.all()}
    for name, uses in USES.items():
        if name in people:
            for slug, times in uses:
                FlowUse.objects.bulk_create(_uses(people[name], flows[slug], times))
    if "bob" in people:
        _notice(people["bob"])
    aggregate([user.pk for user in people.values()])


def _uses(user: User, flow: Flow, times: int) -> list[FlowUse]:
    """Spread over the last weeks' working hours, the last of them yesterday."""
    sessions = [uuid.uuid4() for _ in range(times // 3 + 1)]
    return [
        FlowUse(
            turn_id=uuid.uuid4(),
            user=user,
            session_id=sessions[number // 3],
            flow_id=flow.pk,
            flow_name=flow.name,
            model="tacit-demo",
            at=_moment(1 + number * DAYS // times, HOURS[number % len(HOURS)]),
        )
        for number in range(times)
    ]


def _moment(days_ago: int, hour: int) -> datetime:
    day = timezone.localdate(timezone=ZONE) - timedelta(days=days_ago)
    return datetime.combine(day, time(hour, 20), ZONE)


def _notice(user: User) -> None:
    memories: list[Episode] = []
    for number, text in enumerate(MEMORIES):
        memories.append(remember(user, text, pinned=False))
        Episode.objects.filter(pk=memories[-1].pk).update(occurred_to=_moment(3 + 4 * number, 15))
    for kind, value, status, shared, shown_by in TAGS:
        tag = ProfileTag.objects.create(
            user=user, kind=kind, key=tag_key(value), value=value, status=status, shared=shared, count=len(shown_by)
        )
        tag.evidence.set(memories[number] for number in shown_by)
