"""Who a model is told it talks to: the person's place, the tags they confirmed, and what was counted (P3)."""

from collections.abc import Iterable

from django.db.models import Q

from llm import tokens
from memory.person import Person
from profiles.models import Figures, ProfileTag, TagKind, UserProfile, figures_of

KIND, TITLE = "portrait", "[用户画像]"
ROOM = 300
"""Tokens of a portrait at most; lines leave from the end."""
TAGS, TOPICS, FLOWS = 8, 5, 5
LANGUAGES = {"en": "English"}
"""Languages that are told of: Chinese needs no word."""


def portrait_of(user: Person) -> str:
    """The lines of the portrait without its title; empty where the person switched it off or has no profile."""
    willing = ~Q(user__memory_owner__portrait_enabled=False)
    profile = UserProfile.objects.filter(willing, pk=user.pk).select_related("department").first()
    if profile is None:
        return ""
    return _within(_lines(profile, figures_of(user), list(ProfileTag.objects.of(user).confirmed().shown())))


def _lines(profile: UserProfile, figures: Figures, tags: Iterable[ProfileTag]) -> list[str]:
    """The lines that there is something to say in."""
    known = {kind: [tag for tag in tags if tag.kind == kind] for kind in TagKind}
    place = (("姓名", profile.display_name), ("职位", profile.position), ("部门", profile.department_name))
    flows = figures.favorite_workflows[:FLOWS]
    lines = (
        " | ".join(f"{name}: {_plain(value)}" for name, value in place if value),
        _line("工作风格", (tag.value for tag in known[TagKind.STYLE][:TAGS])),
        _line("擅长领域", (tag.value for tag in known[TagKind.EXPERTISE][:TAGS])),
        _line("最近话题", (f"{tag.value}({tag.count}次)" for tag in known[TagKind.TOPIC][:TOPICS])),
        _line("常用流程", (f"{flow['flow_name']}({flow['count']}次)" for flow in flows)),
        _line("沟通语气", [profile.communication_tone]),
        _line("回答语言", [LANGUAGES.get(profile.preferred_language, "")]),
    )
    return [line for line in lines if line]


def _line(name: str, values: Iterable[str]) -> str:
    said = ", ".join(plain for value in values if (plain := _plain(value)))
    return f"{name}: {said}" if said else ""


def _plain(value: str) -> str:
    return " ".join(value.split())


def _within(lines: list[str]) -> str:
    """As many lines as there is room for."""
    while lines and tokens.count("\n".join(lines)) > ROOM:
        lines.pop()
    return "\n".join(lines)
