"""What can go wrong with conversations. Each class has a `code`, a sentence with the remedy, and `permanent`."""

from uuid import UUID

from django.utils.translation import gettext_lazy as _


class SessionNotFound(Exception):
    """No such session for this user and flow. A foreign one is told apart by nothing."""

    code = "not_found"
    detail = _("No such conversation. Start a new one, or pick one from the list.")
    permanent = True


class TurnNotFound(Exception):
    code = "not_found"
    detail = _("No such turn. Read the conversation again to see the turns it has.")
    permanent = True


class EpisodeNotFound(Exception):
    code = "not_found"
    detail = _("No such memory. It may have been deleted.")
    permanent = True


class RelationNotFound(Exception):
    code = "not_found"
    detail = _("No such relation. It may have gone with the last memory that named it.")
    permanent = True


class SaysTheSame(Exception):
    """Another active memory of the same owner has these very words."""

    code = "says_the_same"
    detail = _("Another memory says the same. Change that one, or delete one of the two.")
    permanent = True


class NotToBeChanged(Exception):
    code = "memory_not_active"
    detail = _("This memory was replaced by another one. Make it active again before you archive it.")
    permanent = True


class TurnRunning(Exception):
    """The session already has a running turn; `turn_id` names it."""

    code = "turn_running"
    detail = _("An answer is still being written in this conversation. Wait for it, or stop it.")
    permanent = False

    def __init__(self, turn_id: UUID) -> None:
        super().__init__(str(turn_id))
        self.turn_id = turn_id


class ClientTurnIdReused(Exception):
    code = "client_turn_id_reused"
    detail = _("This client_turn_id was used with another input. Use a new one for a new message.")
    permanent = True

    def __init__(self, turn_id: UUID) -> None:
        super().__init__(str(turn_id))
        self.turn_id = turn_id


class NotTheLastTurn(Exception):
    code = "not_the_last_turn"
    detail = _("Only the last turn can be answered again or edited. Ask again in a new message.")
    permanent = True


class TurnEnded(Exception):
    """A write to a turn that is no longer running: somebody else ended it, or it was erased."""

    code = "turn_ended"
    detail = _("This turn has already ended.")
    permanent = True


class DimensionRefused(Exception):
    """A vector has another length than the stored ones of its model."""

    code = "dimension_refused"
    permanent = True

    def __init__(self, model: str, *, kept: int, given: int) -> None:
        self.detail = (
            f"The vectors of {model} have {kept} numbers, and this one has {given}. Give the other model another "
            "name in EMBEDDING_MODEL, then run manage.py reembed."
        )
        super().__init__(self.detail)
