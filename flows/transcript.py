"""What the chat page shows of one conversation, a stretch of turns at a time."""

import json
from dataclasses import dataclass, field
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.utils.safestring import SafeString, mark_safe

from flows import proposals
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
    """A question and its answer as the page shows them; every default together is the blank that scripts fill.

    `action` is the card that waits for a click or did, as JSON; `answers` the turn whose card this one answered.
    """

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
    action: str = ""
    answers: str = ""

    @classmethod
    def of(cls, turn: Turn, action: dict[str, Any] | None) -> "ShownTurn":
        """The stored turn, its answer rendered."""
        answered = getattr(turn, "answered_action", None)
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
            action=json.dumps(action, cls=DjangoJSONEncoder, ensure_ascii=False) if action else "",
            answers=str(answered.turn_id) if answered else "",
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
    turns = list(backwards.select_related("action", "answered_action")[: most + 1])
    cards = proposals.shown(turn.action for turn in turns[:most] if turn.waiting and hasattr(turn, "action"))
    by_turn = {turn.pk: cards.get(turn.waiting) if turn.waiting else None for turn in turns}
    shown = [ShownTurn.of(turn, by_turn[turn.pk]) for turn in reversed(turns[:most])]
    return Stretch(shown, older=len(turns) > most)
