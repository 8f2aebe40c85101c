"""What of a turn is searched: redacted before anything else is made of it, then shortened."""

from dataclasses import dataclass
from functools import cached_property

from llm.text import safe
from memory.models import Turn, Unit, UnitKind
from memory.redaction import redact
from memory.retrieval.tokens import tokens_of_unit

SIDE_CHARS = 16_000
"""Of the question and of the answer, each. What stands behind is in the transcript alone."""
CONTEXT_CHARS = 200
"""Of either side of the turn before."""
GAP = "\n\n"
"""Between a question and its answer."""


@dataclass(frozen=True)
class Draft:
    """A unit in the making: what may be shown, and the turn before it, which is searched along."""

    turn: Turn
    question: str
    answer: str
    context: str = ""

    @property
    def text(self) -> str:
        return f"{self.question}{GAP}{self.answer}"

    @cached_property
    def searched(self) -> str:
        """What tokens and vector are made of."""
        return searched(self.text, context=self.context)

    @cached_property
    def counts(self) -> dict[str, int]:
        """Its tokens, and how often each stands in it."""
        return dict(tokens_of_unit(self.text, context=self.context))

    @property
    def unit(self) -> Unit:
        """The unit as it would be stored, not counted yet."""
        return Unit(
            user_id=self.turn.user_id,
            kind=UnitKind.TURN,
            turn=self.turn,
            conversation=self.turn.conversation,
            flow_id=self.turn.flow_id,
            seq=self.turn.seq,
            occurred_at=self.turn.started_at,
            text=self.text,
            answer_at=len(self.question) + len(GAP),
            context=self.context,
        )


def drafted(turn: Turn, *, before: Turn | None = None, chars: int = SIDE_CHARS) -> Draft:
    """The draft of a turn, with the one before it in its session as context, when that is searched itself."""
    context = GAP.join(_sides(before, CONTEXT_CHARS)) if before and is_searched(before) else ""
    question, answer = _sides(turn, chars)
    return Draft(turn, question, answer, context)


def _sides(turn: Turn, chars: int) -> tuple[str, str]:
    """Question and answer, redacted. Cut only behind the redaction, which a halved key would escape."""
    question, answer = (redact(safe(side))[:chars].strip() for side in (turn.input, turn.output))
    return question, answer


def searched(text: str, *, context: str) -> str:
    """What the tokens and the vector of a unit are made of."""
    return f"{context}{GAP}{text}" if context else text


def is_searched(turn: Turn) -> bool:
    """Whether a turn is ever found: it has a question and an answer, counts as said, and its memory is on."""
    return turn.is_replayable and turn.memory_enabled and bool(turn.input.strip())
