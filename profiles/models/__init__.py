"""The tables of people and their work."""

from profiles.models.access import Look, Sight
from profiles.models.departments import Department
from profiles.models.figures import Figures, FlowUse, figures_of
from profiles.models.people import UserProfile, zone_of
from profiles.models.reports import EvaluationReport, ReportState, ReportStatus
from profiles.models.tags import ProfileTag, TagKind, TagStatus, tag_key
from profiles.models.work import UNFINISHED, WorkEvent, WorkStatus, WorkTask

__all__ = [
    "UNFINISHED",
    "Department",
    "EvaluationReport",
    "Figures",
    "FlowUse",
    "Look",
    "ProfileTag",
    "ReportState",
    "ReportStatus",
    "Sight",
    "TagKind",
    "TagStatus",
    "UserProfile",
    "WorkEvent",
    "WorkStatus",
    "WorkTask",
    "figures_of",
    "tag_key",
    "zone_of",
]
