"""What the claims of a report may cite: work, figures, what the person confirmed and shares, flows as context.

Each item has a name: `W` and the number of the task, `M`, `P` and `F` counted from 1. Items are facts; the words are
made when they are read, in the language of the reader. Everything that people wrote is redacted. Nothing is taken from
conversations, memories, suggestions, hours or the tone.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from memory.person import Person
from memory.redaction import redact
from profiles.reports.metrics import NAMES, Work, stamp
from profiles.tags import shared_tags

WORK, METRIC, TAG, FLOW = "work", "metric", "tag", "flow"
PARTS = {"completion_rate": "done", "on_time_rate": "on_time"}
"""What each rate is the share of."""
Evidence = list[dict[str, Any]]


def gather(subject: Person, metrics: dict[str, Any], work: Sequence[Work]) -> Evidence:
    """All of it, in the order in which it is shown."""
    return [*_metrics(metrics), *map(_work, work), *_tags(subject), *_flows(metrics)]


def fingerprint(metrics: dict[str, Any], evidence: Evidence, prompt_version: str) -> str:
    """SHA-256 over everything that a report is made of: the same inputs give the same."""
    inputs = {"metrics": metrics, "evidence": evidence, "prompt_version": prompt_version}
    text = json.dumps(inputs, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _metrics(metrics: dict[str, Any]) -> Evidence:
    sizes = metrics["sample_sizes"]
    return [
        {
            **{"ref": f"M{number}", "kind": METRIC, "name": name, "value": metrics[name], "n": sizes[name]},
            "part": metrics[PARTS[name]] if name in PARTS and metrics[name] is not None else None,
        }
        for number, name in enumerate(NAMES, 1)
    ]


def _work(work: Work) -> dict[str, Any]:
    return {
        **{"ref": f"W{work.task_id}", "kind": WORK, "task_id": work.task_id, "title": redact(work.title)},
        **{"status": work.status, "given": stamp(work.given_at), "due": stamp(work.due_at)},
        **{"ended": stamp(work.ended_at), "on_time": work.is_on_time, "overdue": bool(work.is_overdue)},
    }


def _tags(subject: Person) -> Evidence:
    tags = shared_tags(subject).order_by("kind", "-count", "key")
    return [
        {"ref": f"P{number}", "kind": TAG, "of": tag.kind, "value": redact(tag.value), "count": tag.count}
        for number, tag in enumerate(tags, 1)
    ]


def _flows(metrics: dict[str, Any]) -> Evidence:
    flows = metrics["context"]["flows"]
    return [
        {"ref": f"F{number}", "kind": FLOW, "name": flow["flow_name"], "count": flow["count"]}
        for number, flow in enumerate(flows, 1)
    ]
