"""What the chat page shows of one conversation, a stretch of turns at a time."""

from dataclasses import dataclass, field

from django.utils.safestring import SafeString, mark_safe

from flows.markdown import render
from flows.page_text import notes, tokens
from memory.models import Conversation, Turn, TurnStatus

TURNS_A_PAGE = 40


@dataclass(frozen=True, slots=True)
class ShownTurn:
    """A question and its answer as the page shows them; every default together is the blank that scripts fill."""

    id: str = ""
    seq: int | str = ""
    status: str = TurnStatus.RUNNING
    input: str = ""
    html: SafeString = field(default_factory=SafeString)
    notes: tuple[str, ...] = ()
    rating: str = ""
    tokens: str = ""
    replaces: str = ""

    @classmethod
    def of(cls, turn: Turn) -> "ShownTurn":
        """The stored turn, its answer rendered."""
        return cls(
            id=str(turn.pk),
            seq=turn.seq,
            status=turn.status,
            input=turn.input,
            html=mark_safe(render(turn.output)),  # noqa: S308  # render sanitises
            notes=tuple(notes(turn)),
            rating=turn.rating,
            tokens=tokens(sum(turn.usage.values())),
            replaces=str(turn.replaces_id or ""),
        )


@dataclass(frozen=True, slots=True)
class Stretch:
    """Turns in the order they were said; `older` says whether there are more before them."""

    turns: list[ShownTurn] = field(default_factory=list)
    older: bool = False


def newest(conversation: Conversation) -> Stretch:
    """The last turns of a conversation."""
    return _stretch(conversation)


def before(conversation: Conversation, seq: int) -> Stretch:
    """The turns said before message number `seq`, the nearest ones."""
    return _stretch(conversation, seq__lt=seq)


def after(conversation: Conversation, seq: int) -> Stretch:
    """The turns said after message number `seq`, the newest ones when they are many."""
    return _stretch(conversation, seq__gt=seq)


def _stretch(conversation: Conversation, **where: int) -> Stretch:
    backwards = Turn.objects.shown(conversation).filter(**where).order_by("-seq")
    turns = list(backwards[: TURNS_A_PAGE + 1])
    shown = [ShownTurn.of(turn) for turn in reversed(turns[:TURNS_A_PAGE])]
    return Stretch(shown, older=len(turns) > TURNS_A_PAGE)
