"""What can go wrong with people and work. Each class has a `code`, a sentence with the remedy, and `permanent`."""

from django.utils.translation import gettext_lazy as _


class PersonNotFound(Exception):
    """Nobody with this id whom the caller may see, or give work to. A stranger is told apart by nothing."""

    code = "not_found"
    detail = _("No such person among those you may give work to. Choose somebody from the list.")
    permanent = True


class TaskNotFound(Exception):
    code = "not_found"
    detail = _("No such task. Load the list again to see the tasks there are.")
    permanent = True


class NotYoursToChange(Exception):
    """The caller may see the task, but this change is for its assignee or its creator."""

    code = "not_yours_to_change"
    detail = _("Only the person who does a task moves its status, and only the one who gave it edits or cancels it.")
    permanent = True


class TaskChanged(Exception):
    """The task is in another status than the change starts from, be it for good or because somebody was quicker."""

    code = "task_changed"
    detail = _("This task has another status by now. Load it again and see whether the change is still wanted.")
    permanent = False


class ClientKeyReused(Exception):
    code = "client_key_reused"
    detail = _("This client_key was used for another task. Use a new one for a new task.")
    permanent = True


class ProfileNotFound(Exception):
    """Nobody with this id whose profile the caller may see. A stranger is told apart by nothing."""

    code = "not_found"
    detail = _("No such profile. Ask for your own, or for that of somebody who reports to you.")
    permanent = True


class TagNotFound(Exception):
    """The owner has no such tag, or it went with the memories that it was noticed in."""

    code = "not_found"
    detail = _("No such tag any more. Load the page again to see the tags there are.")
    permanent = True


class ReportNotFound(Exception):
    """No report with this id that the caller may read. A stranger's is told apart by nothing."""

    code = "not_found"
    detail = _("No such report. See the list for the reports there are about people who report to you, or about you.")
    permanent = True


class ReportNotYours(Exception):
    """The caller may read the report, but this is for somebody else to do."""

    code = "not_yours_to_change"
    detail = _("Only those above a person sign and share a report, and only the person answers it.")
    permanent = True


class ReportNotReady(Exception):
    code = "report_not_ready"
    detail = _("This report is not ready. Wait until it has been made, or ask for it again if that failed.")
    permanent = False


class ReportNotSigned(Exception):
    code = "report_not_signed"
    detail = _("This report is not signed. Sign it first, then share it.")
    permanent = False
