"""One token budget for everything that a model is sent: who gets how much, and what was used."""

from dataclasses import dataclass, field

from llm import tokens

LARGEST_RESERVE = 4096
"""Tokens kept for the answer at most, however much the model could write."""


@dataclass(frozen=True, slots=True)
class Budget:
    """`limit` tokens in all, of which `reserve` stay free for the answer."""

    limit: int
    reserve: int

    @classmethod
    def of(cls, *, context_tokens: int, max_output_tokens: int | None) -> "Budget":
        """The budget of a model: at most half of its context is kept for the answer."""
        reserve = min(max_output_tokens or LARGEST_RESERVE, LARGEST_RESERVE, context_tokens // 2)
        return cls(limit=context_tokens, reserve=reserve)

    @property
    def total(self) -> int:
        """Tokens that the prompt may have."""
        return self.limit - self.reserve

    def for_words(self, system: str) -> int:
        """What the person's own words may take: three quarters of what the system text leaves."""
        return (self.total - tokens.count(system)) * 3 // 4

    def for_blocks(self, system: str, words: str) -> int:
        """What remembered data may take together: a third of all, and two thirds of what system and words leave."""
        left = self.total - tokens.count(system) - tokens.count(words)
        return max(min(self.total // 3, left * 2 // 3), 0)


@dataclass(frozen=True, slots=True)
class Use:
    """How a prompt used its budget, in tokens; `blocks` by kind, such as the summary.

    `dropped_messages` counts the earlier messages that were left out or cut short.
    """

    limit: int
    reserve: int
    system: int = 0
    window: int = 0
    words: int = 0
    blocks: dict[str, int] = field(default_factory=dict)
    dropped_messages: int = 0
    words_cut: bool = False

    def as_dict(self) -> dict[str, int | bool]:
        """Flat, as it is shown with the answer."""
        flat: dict[str, int | bool] = {
            "limit": self.limit,
            "reserve": self.reserve,
            "system": self.system,
            "window": self.window,
            "words": self.words,
            **self.blocks,
        }
        return flat | {"dropped_messages": self.dropped_messages, "words_cut": self.words_cut}
