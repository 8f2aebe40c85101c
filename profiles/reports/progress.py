"""How far a report is, in words, for whoever waits for it."""

from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from profiles.models import ReportStatus

PATIENCE = timedelta(seconds=30)
"""How long a report waits before it is said that no worker may be there."""
STEPS: tuple[tuple[int, str | Promise], ...] = (
    (90, _("Checking each claim against its evidence")),
    (40, _("The model is writing")),
    (0, _("Counting the work")),
)


def progress_words(status: ReportStatus, progress: int, asked_at: datetime) -> str | Promise:
    """What is going on. A report that nobody has taken up waits: that it does so for long is said too."""
    if status == ReportStatus.PENDING and timezone.now() - asked_at > PATIENCE:
        return _("Waiting for a worker. None seems to be running; the report is made as soon as one is there.")
    if status == ReportStatus.PENDING:
        return _("Waiting for its turn")
    return next(words for least, words in STEPS if progress >= least)
