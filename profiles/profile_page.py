"""What the profile page shows: figures with their samples, tags with their evidence, the manager's view, who looked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from memory.person import Person
from profiles.charts import last_weeks
from profiles.manager_view import as_manager_sees
from profiles.models import (
    EvaluationReport,
    Figures,
    Look,
    ProfileTag,
    TagKind,
    TagStatus,
    UserProfile,
    figures_of,
    zone_of,
)
from profiles.own_profile import PREFERENCES, profile_of
from profiles.profile_forms import PreferencesForm
from profiles.tags import tags_of
from profiles.task_page import name_of
from profiles.timeline import days_of_flows

LOOKS = 20
WEEKS = 4
"""Weeks of which the days are shown that a manager sees; a manager may ask for any."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The tags of one kind, by what their owner has said of them. `has_eyes`: a manager may see some."""

    kind: TagKind
    suggested: Sequence[ProfileTag]
    confirmed: Sequence[ProfileTag]
    rejected: Sequence[ProfileTag]

    @property
    def has_eyes(self) -> bool:
        return self.kind != TagKind.TONE

    @property
    def is_counted(self) -> bool:
        return self.kind == TagKind.TOPIC


def context(user: Person) -> dict[str, Any]:
    """Everything that the page needs but its form. Raises ProfileNotFound."""
    profile, figures, zone = profile_of(user), figures_of(user), zone_of(user)
    looks = Look.objects.at(user).select_related("viewer__profile").order_by("-at", "-pk")[:LOOKS]
    kinds = _kinds(user)
    return {
        "profile": profile,
        "figures": figures,
        "rows": rows_of(figures),
        "kinds": kinds,
        "waiting": sum(len(kind.suggested) for kind in kinds),
        "manager_name": name_of(profile.manager) if profile.manager else "",
        "seen": as_manager_sees(user),
        "seen_rows": work_rows(figures),
        "seen_days": days_of_flows(user, last_weeks(WEEKS, zone), zone),
        "reports": _reports(user),
        "looks": [(look.at, name_of(look.viewer), look.get_sight_display()) for look in looks],
    }


def _reports(user: Person) -> list[tuple[EvaluationReport, str, bool]]:
    """Those that were shared with the person, who signed each, and whether it is new."""
    mine = EvaluationReport.objects.shared_with(user).select_related("signed_by__profile").order_by("-shared_at", "pk")
    return [(report, name_of(report.signed_by), report.seen_at is None) for report in mine]


def _kinds(user: Person) -> list[Kind]:
    known = tags_of(user)
    found = [Kind(kind, *(_in(known[kind], status) for status in TagStatus)) for kind in TagKind]
    return [kind for kind in found if kind.suggested or kind.confirmed or kind.rejected]


def _in(tags: Sequence[ProfileTag], status: TagStatus) -> list[ProfileTag]:
    return [tag for tag in tags if tag.status == status]


def rows_of(figures: Figures) -> list[tuple[str, str, str]]:
    """What was counted: the name, the figure, and of how much it was made."""
    turns = _("of %(n)s answers") % {"n": figures.turns_counted}
    return [
        (_("Conversations"), str(figures.total_conversations), ""),
        (_("Flows used"), str(figures.total_workflows_used), ""),
        (_("When I work (my eyes only)"), hours(figures), turns if figures.preferred_work_hours else ""),
        *work_rows(figures),
    ]


def work_rows(figures: Figures) -> list[tuple[str, str, str]]:
    """The figures about tasks, which a manager sees too."""
    rate, mean = figures.task_completion_rate, figures.avg_task_completion_h
    return [
        (_("Tasks given to me"), str(figures.total_tasks_assigned), ""),
        (_("Tasks given by me"), str(figures.total_tasks_created), ""),
        (_("Tasks done"), not_enough() if rate is None else f"{rate:.0%}", of_tasks(figures.tasks_counted)),
        (_("From given to done"), not_enough() if mean is None else time_taken(mean), of_tasks(figures.tasks_done)),
    ]


def hours(figures: Figures) -> str:
    """`09–12, 14–15`: neighbouring hours joined, each up to its end."""
    spans: list[list[int]] = []
    for hour in figures.preferred_work_hours:
        if spans and spans[-1][1] == hour:
            spans[-1][1] = hour + 1
        else:
            spans.append([hour, hour + 1])
    return pgettext("between items", ", ").join(f"{first:02}–{last:02}" for first, last in spans) or not_enough()


def not_enough() -> str:
    return _("not enough data")


def of_tasks(number: int) -> str:
    """The size of a sample."""
    return _("of %(n)s tasks") % {"n": number}


def time_taken(mean: float) -> str:
    """So many hours; from two days on, days."""
    if mean >= 48:
        return _("%(n)s days") % {"n": f"{mean / 24:.1f}"}
    return _("%(n)s hours") % {"n": f"{mean:.1f}"}


def preferences(profile: UserProfile) -> PreferencesForm:
    """The form as it stands."""
    values = {name: getattr(profile, name) for name in PREFERENCES}
    return PreferencesForm(initial=values | {"aliases": ", ".join(profile.aliases)})
