"""What can go wrong with flows and runs. Each class has a `code`, a sentence with the remedy, and `permanent`."""

from uuid import UUID

from django.utils.translation import gettext_lazy as _


class FlowNotFound(Exception):
    """No such flow for this person. One they may not use is told apart by nothing."""

    code = "not_found"
    detail = _("No such flow. Pick one from the catalogue.")
    permanent = True


class InvalidDefinition(Exception):
    """A flow that cannot be published or run; `problems` says why, each naming its node."""

    code = "invalid_definition"
    detail = _("The flow has mistakes. Mend the nodes that are named and publish it again.")
    permanent = True

    def __init__(self, problems: list["Problem"]) -> None:
        super().__init__("; ".join(str(problem.detail) for problem in problems))
        self.problems = problems


class Problem:
    """One mistake in a definition: where it is, and what to do about it."""

    def __init__(self, node_id: str | None, field: str | None, code: str, detail: object) -> None:
        self.node_id, self.field, self.code, self.detail = node_id, field, code, detail

    def as_dict(self) -> dict[str, str | None]:
        """`{node_id, field, code, detail}`, as the API gives it."""
        return {"node_id": self.node_id, "field": self.field, "code": self.code, "detail": str(self.detail)}


class NodeTimeout(Exception):
    """A node took longer than it is given."""

    code = "node_timeout"
    detail = _("One step of the flow took too long. Try again.")
    permanent = False


class NodeFault(Exception):
    """A node failed in a way that is no provider's: a fault of ours, logged in full where it happened."""

    code = "node_failed"
    detail = _("One step of the flow failed. Try again; if it stays, tell the flow's designer.")
    permanent = False


class AnswerUnusable(Exception):
    """A model that was to decide or to read something answered twice with what a node cannot use."""

    code = "unusable_answer"
    detail = _("The model's answer could not be used in one step of the flow. Try again, or put it in other words.")
    permanent = False


class ServerStopping(Exception):
    """The process is going down and takes no new turns."""

    code = "server_stopping"
    detail = _("The server is restarting. Send the message again in a moment.")
    permanent = False


class ActionNotFound(Exception):
    """No such action for this person. A foreign one is told apart by nothing."""

    code = "not_found"
    detail = _("No such card. Read the conversation again to see what waits for you.")
    permanent = True


class ActionExpired(Exception):
    """Nobody can answer this any more: too late, or another question or card came in its place."""

    code = "action_expired"
    detail = _("This card has expired. Say again what you want, and answer the new one.")
    permanent = True


class RunFailed(Exception):
    """An answer that failed, for callers who waited for it; `code`, `detail` and `turn_id` say which and why."""

    permanent = False

    def __init__(self, turn_id: UUID, code: str, detail: str) -> None:
        super().__init__(code)
        self.turn_id, self.code, self.detail = turn_id, code, detail
