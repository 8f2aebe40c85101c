"""How turns end: from what happened to an outcome, and from an outcome to the one terminal event."""

from typing import Any

import structlog
from django.utils.translation import gettext_lazy as _

from flows import errors as flow_errors
from flows.errors import NodeFault
from llm import errors as llm_errors
from memory.models import Turn, TurnStatus
from memory.turns import Outcome

logger = structlog.get_logger(__name__)

NOT_SAVED = "not_saved"
ERASED = Outcome(status=TurnStatus.STOPPED, error_code="erased")
"""How a turn ends for its listeners whose session was erased while it ran: with nothing, and with words that say so."""
SENTENCES = {
    str(vars(error)["code"]): vars(error)["detail"]
    for module in (llm_errors, flow_errors)
    for error in vars(module).values()
    if isinstance(error, type) and issubclass(error, Exception) and {"code", "detail"} <= vars(error).keys()
} | {
    NOT_SAVED: _("The answer could not be saved. Copy it if you need it, and try again."),
    ERASED.error_code: _("This conversation was erased."),
}
"""What a person is told for each code with which a turn ends."""

EVENTS = {
    TurnStatus.COMPLETE: "turn.completed",
    TurnStatus.STOPPED: "turn.stopped",
    TurnStatus.FAILED: "turn.failed",
    TurnStatus.INTERRUPTED: "turn.interrupted",
    TurnStatus.SUPERSEDED: "turn.completed",
}


def failure(error: BaseException) -> str:
    """The code of what made an answer fail; what nobody expected is logged by its place, never by its text."""
    code = getattr(error, "code", None)
    if code in SENTENCES:
        return str(code)
    logger.error("turn failed", error=type(error).__name__, exc_info=None)
    return NodeFault.code


def sentence(code: str) -> str:
    """What a person is told, in the language that is active."""
    return str(SENTENCES.get(code, NodeFault.detail))


def closing_event(outcome: Outcome, *, html: str) -> tuple[str, dict[str, Any]]:
    """The type and data of the terminal event of a turn that ended with `outcome`."""
    status = TurnStatus(outcome.status)
    data: dict[str, Any] = {"output": outcome.output, "html": html}
    if status is TurnStatus.FAILED or outcome.error_code == ERASED.error_code:
        data |= {"code": outcome.error_code, "detail": sentence(outcome.error_code)}
    if outcome.waiting:
        data["waiting"] = str(outcome.waiting)
    return EVENTS[status], data


def outcome_of(turn: Turn) -> Outcome:
    """How a stored turn ended."""
    return Outcome(status=TurnStatus(turn.status), output=turn.output, error_code=turn.error_code, waiting=turn.waiting)
