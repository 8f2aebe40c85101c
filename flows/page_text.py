"""The sentences of the chat page that its scripts need too, in the reader's language."""

from django.utils.translation import gettext as _

from flows.endings import sentence
from memory.manager import HOT_COPY
from memory.models import Turn, TurnStatus


def ending_notes() -> dict[str, str]:
    """What stands under an answer that did not end by itself, by the turn's status."""
    return {
        TurnStatus.STOPPED: _("Stopped. What was written until then is kept."),
        TurnStatus.INTERRUPTED: _("The answer was interrupted. Your question is kept, and what was written until then."),
    }


def missing_notes() -> dict[str, str]:
    """What could not be reached while an answer was made, by its code; `other` for any code not named."""
    return {
        HOT_COPY: _("The fast memory was out of reach, so this answer read the archive. Nothing is lost."),
        "other": _("Part of the memory was out of reach. This answer was made without it."),
    }


def notes(turn: Turn) -> list[str]:
    """The notes under one answer."""
    shown = [sentence(turn.error_code)] if turn.status == TurnStatus.FAILED else []
    shown += [ending_notes()[turn.status]] if turn.status in ending_notes() else []
    by_code = missing_notes()
    missing = [by_code.get(code, by_code["other"]) for code in turn.memory_used.get("missing", ())]
    return shown + list(dict.fromkeys(missing))


def script_text(flow_name: str) -> dict[str, object]:
    """The texts of the scripts. Parts in braces are replaced there, except the flow's name."""
    return {
        "endings": ending_notes(),
        "missing": missing_notes(),
        "tokens": _("{n} tokens"),
        "copy": _("Copy"),
        "copied": _("Copied"),
        "answering": _("The answer is being written"),
        "answered": _("The answer is complete"),
        "thanks": _("Thank you. This helps to make the flow better."),
        "busy": _("An answer is still being written here. It is shown above; your words stay in the box."),
        "offline": _("No connection. Trying again; the answer goes on meanwhile."),
        "loggedOut": _("Your login has ended. Load the page again to log in; your words are kept."),
        "failed": _("This did not work. Check the connection and try again."),
        "gone": _("This conversation no longer exists."),
        "rename": _("Rename the conversation"),
        "title": _("Title"),
        "save": _("Save"),
        "delete": _("Delete"),
        "clear": _("Clear"),
        "deleteTitle": _("Delete this conversation?"),
        "deleteText": _(
            "“{title}” goes with all its messages, its summary and what was remembered from it. This cannot be undone."
        ),
        "erase": {
            "session": {
                "title": _("Clear this conversation?"),
                "text": _(
                    "“{title}” goes with all its messages, its summary and what was remembered from it. "
                    "This cannot be undone."
                ),
            },
            "flow": {
                "title": _("Clear everything said in this flow?"),
                "text": _(
                    "All your conversations with “%(flow)s” go, with their messages, summaries and what was "
                    "remembered from them. This cannot be undone."
                )
                % {"flow": flow_name},
            },
            "all": {
                "title": _("Clear everything?"),
                "text": _(
                    "All your conversations in all flows go, with their messages, summaries and everything that was "
                    "remembered about you. Your tasks and your profile stay. This cannot be undone."
                ),
            },
        },
    }
