"""What a report says, in the language of whoever reads it: its figures, its evidence, and what went wrong."""

from collections.abc import Callable
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.dateparse import parse_datetime
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from profiles.models import TagKind
from profiles.profile_page import not_enough, of_tasks, time_taken
from profiles.reports.evidence import FLOW, METRIC, TAG, WORK
from profiles.reports.metrics import ENOUGH

LABELS: dict[str, str | Promise] = {
    "assigned": gettext_lazy("Given by others"),
    "in_hand": gettext_lazy("In hand"),
    "done": gettext_lazy("Done"),
    "cancelled": gettext_lazy("Cancelled"),
    "completion_rate": gettext_lazy("Completion rate"),
    "on_time_rate": gettext_lazy("On time"),
    "overdue": gettext_lazy("Overdue at the end"),
    "median_hours": gettext_lazy("From given to done, median"),
    "mean_hours": gettext_lazy("From given to done, mean"),
}
NOTES: dict[str, str | Promise] = {
    "no_model": gettext_lazy("No model is set up, so this report is figures and evidence alone."),
    "model_failed": gettext_lazy("The model could not be reached, so this report is figures and evidence alone."),
    "model_unusable": gettext_lazy("The model wrote nothing usable, so this report is figures and evidence alone."),
    "all_struck": gettext_lazy(
        "The evidence backed nothing that the model wrote, so this report is figures and evidence alone."
    ),
    "nothing_happened": gettext_lazy("Nobody gave this person work in this period, so there is nothing to tell."),
}
"""Why there is no narrative, by `narrative_note`."""
FAULTS: dict[str, str | Promise] = {
    "not_in_line": gettext_lazy("Whoever asked for this report no longer stands above its subject. It was not made."),
    "job_failed": gettext_lazy("This report could not be made. Ask for it again; if it lasts, tell an administrator."),
}
"""Why there is no report, by `error_code`."""


def figure(name: str, value: float | None) -> str:
    """A figure as people read it: per cent, hours or days, a number."""
    if value is None:
        return not_enough()
    if name.endswith("_rate"):
        return f"{value:.0%}"
    return time_taken(value) if name.endswith("_hours") else str(value)


def sample(name: str, n: int) -> str:
    """Of how many tasks a figure was made; nothing for those that count from nothing else."""
    return "" if name in ("assigned", "in_hand") else of_tasks(n)


def little(metrics: dict[str, Any]) -> str:
    """What stands over figures that too little was counted for."""
    if not metrics or metrics["enough_data"]:
        return ""
    told = _("Not enough data. Tasks given, done or cancelled: %(n)s. Rates and times are told from %(least)s on.")
    return told % {"n": metrics["events"], "least": ENOUGH}


def evidence_text(item: dict[str, Any], zone: ZoneInfo) -> str:
    """One item of evidence in a sentence; days are those of `zone`."""
    return _TEXTS[item["kind"]](item, zone)


def _work(item: dict[str, Any], zone: ZoneInfo) -> str:
    facts = [_("given %(day)s") % {"day": _day(item["given"], zone)}]
    facts += [_("due %(day)s") % {"day": _day(item["due"], zone)}] if item["due"] else []
    if item["status"] == "done":
        facts.append(_("done %(day)s") % {"day": _day(item["ended"], zone)})
    elif item["status"] == "cancelled":
        facts.append(_("cancelled %(day)s") % {"day": _day(item["ended"], zone)})
    else:
        facts.append(_("overdue at the end") if item["overdue"] else _("not done at the end"))
    if item["on_time"] is not None:
        facts.append(_("on time") if item["on_time"] else _("late"))
    return _("“%(title)s”: %(facts)s") % {"title": item["title"], "facts": pgettext("between facts", ", ").join(facts)}


def _metric(item: dict[str, Any], _zone: ZoneInfo) -> str:
    made_of = sample(item["name"], item["n"])
    told = f"{LABELS[item['name']]}: {figure(item['name'], item['value'])}"
    return f"{told} ({made_of})" if made_of else told


def _tag(item: dict[str, Any], _zone: ZoneInfo) -> str:
    kinds = {
        TagKind.STYLE: _("way of working"),
        TagKind.EXPERTISE: _("strength"),
        TagKind.TOPIC: _("topic"),
    }
    told = {"kind": kinds[TagKind(item["of"])], "value": item["value"]}
    return _("%(value)s (%(kind)s, confirmed and shared by the person)") % told


def _flow(item: dict[str, Any], _zone: ZoneInfo) -> str:
    told = {"name": item["name"], "n": item["count"]}
    return _("Flow “%(name)s”, %(n)s times (context, no measure of performance)") % told


_TEXTS: dict[str, Callable[[dict[str, Any], ZoneInfo], str]] = {WORK: _work, METRIC: _metric, TAG: _tag, FLOW: _flow}


def _day(stamp: str, zone: ZoneInfo) -> str:
    moment = parse_datetime(stamp)
    assert moment  # noqa: S101  # `metrics.stamp` wrote it
    return f"{moment.astimezone(zone):%Y-%m-%d}"
