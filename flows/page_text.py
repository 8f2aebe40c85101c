"""The sentences that scripts put on a page, in the reader's language."""

from django.utils.translation import gettext as _

from flows.endings import ERASED, sentence
from flows.recalled import count_template
from memory.manager import HOT_COPY
from memory.models import Turn, TurnStatus


def ending_notes() -> dict[str, str]:
    """What stands under an answer that did not end by itself, by the turn's status."""
    return {
        TurnStatus.STOPPED: _("Stopped. What was written until then is kept."),
        TurnStatus.INTERRUPTED: _(
            "The answer was interrupted. Your question is kept, and what was written until then."
        ),
    }


def missing_notes() -> dict[str, str]:
    """What could not be reached while an answer was made, by its code; `other` for any code not named."""
    return {
        "vectors": _("The search by meaning was out of reach; memory was searched by words alone."),
        HOT_COPY: _("The fast memory was out of reach, so this answer read the archive. Nothing is lost."),
        **dict.fromkeys(
            ("search", "recall", "busy", "long_term_memory"),
            _("What you said elsewhere was out of reach this time. This answer was made without it."),
        ),
        "other": _("Part of the memory was out of reach. This answer was made without it."),
    }


def cut_notes() -> dict[str, str]:
    """What the budget kept from the model, by its name in the budget."""
    return {
        "dropped_messages": _(
            "The conversation is longer than the model can read, so its oldest messages were left out."
        ),
        "words_cut": _("Your message is longer than the model can read, so only its beginning and its end were sent."),
    }


def notes(turn: Turn) -> list[str]:
    """The notes under one answer."""
    shown = [sentence(turn.error_code)] if turn.status == TurnStatus.FAILED else []
    shown += [ending_notes()[turn.status]] if turn.status in ending_notes() else []
    budget = turn.memory_used.get("budget", {})
    shown += [note for name, note in cut_notes().items() if budget.get(name)]
    by_code = missing_notes()
    missing = [by_code.get(code, by_code["other"]) for code in turn.memory_used.get("missing", ())]
    return shown + list(dict.fromkeys(missing))


def tool_notes() -> dict[str, str]:
    """What stands under an answer for each tool that its model called."""
    return {
        "find_person": _("Looked up a person."),
        "search_memory": _("Searched your memory."),
        "assign_work": _("Prepared a task."),
    }


def tokens(count: int) -> str:
    """How much an answer cost, in a word; nothing when it is not known."""
    return _tokens().format(n=f"{count:,}") if count else ""


def _tokens() -> str:
    return _("{n} tokens")


def spending(turn: Turn) -> list[tuple[str, str]]:
    """What an answer cost and how its prompt used the budget, as (what, tokens)."""
    budget = turn.memory_used.get("budget", {})
    parts = (
        (_("Sent to the model"), turn.usage.get("prompt_tokens")),
        (_("Written by the model"), turn.usage.get("completion_tokens")),
        (_("Instructions of the flow"), budget.get("system")),
        (_("Earlier messages"), budget.get("window")),
        (_("Summary of older ones"), budget.get("summary")),
        (_("Memory of other conversations"), budget.get("memory")),
        (_("Your message"), budget.get("words")),
        (_("Room in the model"), budget.get("limit")),
    )
    return [(what, f"{count:,}") for what, count in parts if count]


def list_text() -> dict[str, str]:
    """The texts of the conversation list. Parts in braces are replaced by the scripts."""
    return {
        "rename": _("Rename the conversation"),
        "title": _("Title"),
        "save": _("Save"),
        "delete": _("Delete"),
        "deleteTitle": _("Delete this conversation?"),
        "deleteText": _(
            "“{title}” goes with all its messages, its summary and what was remembered from it. This cannot be undone."
        ),
    }


def code_text() -> dict[str, str]:
    """The texts over blocks of code."""
    return {"copy": _("Copy"), "copied": _("Copied")}


def card_text() -> dict[str, object]:
    """The texts of cards that wait for a click."""
    return {
        "choose": _("Choose who"),
        "confirm": _("Please confirm"),
        "open": _("A task for you to confirm"),
        "over": _("Task"),
        "states": {
            "sent": _("Confirmed"),
            "created": _("Created"),
            "declined": _("Cancelled"),
            "expired": _("Expired"),
        },
    }


def chat_text(flow_name: str) -> dict[str, object]:
    """The texts of the chat page, the list's included. Parts in braces are replaced by the scripts."""
    return (
        list_text()
        | code_text()
        | {
            "endings": ending_notes(),
            "missing": missing_notes(),
            "cut": cut_notes(),
            "tools": tool_notes(),
            "erase": _erase_questions(flow_name),
            "card": card_text(),
            "clear": _("Clear"),
            "tokens": _tokens(),
            "recalled": {"one": count_template(1), "many": count_template(2)},
            "shareTitle": _("Share this conversation?"),
            "shareText": _(
                "Colleagues who are logged in can read it under a link, as it stands now. What is said later stays "
                "with you, and you can stop sharing at any time."
            ),
            "share": _("Make the link"),
            "shared": _("The link to share"),
            "link": _("Link"),
            "unshared": _("The link no longer works."),
            "thanks": _("Thank you. This helps to make the flow better."),
            "busy": _("An answer is still being written here. It is shown above; your words stay in the box."),
            "wait": _("An answer is still being written. Send this when it has ended, or stop it."),
            "offline": _("No connection. Trying again; an answer goes on meanwhile."),
            "loggedOut": _("Your login has ended. Load the page again to log in; your words are kept."),
            "failed": _("This did not work. Check the connection and try again."),
            "gone": _("This conversation no longer exists."),
            "erased": sentence(ERASED.error_code),
        }
    )


def _erase_questions(flow_name: str) -> dict[str, dict[str, str]]:
    """What is asked before memory is cleared: each names what will go."""
    return {
        "session": {
            "title": _("Clear this conversation?"),
            "text": list_text()["deleteText"],
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
    }
