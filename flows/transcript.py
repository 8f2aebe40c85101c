"""What the chat page shows of one conversation, a stretch of turns at a time."""

from dataclasses import dataclass, field

from django.utils.safestring import SafeString, mark_safe

from flows.markdown import render
from flows.page_text import notes, tokens
from flows.recalled import count_label
from memory.models import Conversation, Turn, TurnStatus

TURNS_AT_FIRST = 20
"""Shown when a conversation opens: more than a screen, and quick to paint."""
TURNS_A_PAGE = 40
TURNS_BEFORE = 3
"""Shown above the turn that somebody came for."""
FARTHEST = 500
"""Turns that are shown at once at most, when somebody comes for an old one."""


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
    recalled: str = ""

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
            recalled=count_label(turn.memory_used),
        )


@dataclass(frozen=True, slots=True)
class Stretch:
    """Turns in the order they were said; `older` says whether there are more before them."""

    turns: list[ShownTurn] = field(default_factory=list)
    older: bool = False


def newest(conversation: Conversation) -> Stretch:
    """The last turns of a conversation."""
    return _stretch(conversation, most=TURNS_AT_FIRST)


def before(conversation: Conversation, seq: int) -> Stretch:
    """The turns said before message number `seq`, the nearest ones."""
    return _stretch(conversation, seq__lt=seq)


def after(conversation: Conversation, seq: int) -> Stretch:
    """The turns said after message number `seq`, the newest ones when they are many."""
    return _stretch(conversation, seq__gt=seq)


def since(conversation: Conversation, turn: Turn) -> Stretch:
    """The turns from a little before `turn` on, to see where it was said; the newest when it is too far back."""
    following = Turn.objects.shown(conversation).filter(seq__gte=turn.seq).count()
    if following > FARTHEST:
        return newest(conversation)
    return _stretch(conversation, most=following + TURNS_BEFORE)


def _stretch(conversation: Conversation, *, most: int = TURNS_A_PAGE, **where: int) -> Stretch:
    backwards = Turn.objects.shown(conversation).filter(**where).order_by("-seq")
    turns = list(backwards[: most + 1])
    shown = [ShownTurn.of(turn) for turn in reversed(turns[:most])]
    return Stretch(shown, older=len(turns) > most)
