"""One turn while it runs: the value that plugins see, fill and read."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid4

import llm
from flows import memory_search
from flows.definition import Definition
from flows.nodes.base import Remembered
from flows.pausing import Resume
from flows.steps import Paused
from llm.profile import Profile
from llm.types import ChatRequest, Chunk, Message
from memory.budget import Budget
from memory.manager import Recalled
from memory.models import Conversation, Turn
from memory.person import Person
from memory.prompts import Block, Parts, assemble
from memory.turns import Outcome

MESSAGES_FOR_CHORES = 4
"""Messages that nodes which classify or extract see: the last two turns."""


@dataclass(slots=True)
class FlowTurn:
    """A turn of a flow. Plugins' `before` fill `recalled` and `blocks`, and name in `missing` what was out of reach.

    `memory_used` is what the answer shows of the memory that it used; `outcome` stands when `after` runs. With
    `resume` a paused run goes on in this turn, and `asked` is what the person had said there. `paused` stands when
    the run waits for the person: the card has the id `action_id` then.
    """

    user: Person
    conversation: Conversation
    turn: Turn
    definition: Definition
    profile: Profile
    inputs: dict[str, Any] = field(default_factory=dict)
    recalled: Recalled = field(default_factory=Recalled)
    blocks: list[Block] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    rewritten: str = ""
    memory_used: dict[str, Any] = field(default_factory=dict)
    outcome: Outcome | None = None
    resume: Resume | None = None
    asked: str = ""
    paused: Paused | None = None
    action_id: UUID = field(default_factory=uuid4)
    on_prompt: Callable[[], None] = lambda: None
    """Called when the prompt of an answer is made, so that its memory can be told before the first word."""

    @property
    def turn_id(self) -> UUID:
        return self.turn.pk

    @property
    def query(self) -> str:
        """What memory is searched for: the rewritten question where a plugin made one, else the words.

        Where a paused run goes on, it is what that run was begun with: 确认 says nothing.
        """
        return self.rewritten or self.asked or self.words

    @property
    def asks_a_model(self) -> bool:
        """Whether a node that has still to run may ask a model with what is remembered."""
        state = self.resume.state if self.resume else None
        over = {*state.branches, state.node_id} if state else ()
        return any(node.type == "llm" and node.id not in over for node in self.definition.nodes)

    @property
    def waiting(self) -> UUID | None:
        """The action that the run waits for."""
        return self.action_id if self.paused else None

    @property
    def words(self) -> str:
        """What the person said, byte for byte."""
        return self.turn.input

    def prompt(self, *, system: str, words: str, answering: bool, spare: int = 0) -> tuple[Message, ...]:
        """The messages for one call of the model; notes how the budget was used when it feeds an answer.

        `spare` tokens stay free beside the room for the answer, a quarter of the model's context at most.
        """
        window = self.recalled.messages
        parts = Parts(
            system=system,
            words=words,
            messages=window if answering else window[-MESSAGES_FOR_CHORES:],
            blocks=self.blocks if answering else (),
        )
        budget = Budget.of(context_tokens=self.profile.context_tokens, max_output_tokens=self.profile.max_output_tokens)
        budget = replace(budget, reserve=budget.reserve + min(spare, budget.limit // 4))
        messages, use = assemble(parts, budget)
        if answering:
            self.memory_used["budget"] = use.as_dict()
            self.on_prompt()
        return messages

    def stream(self, messages: tuple[Message, ...], **options: Any) -> AsyncGenerator[Chunk, None]:
        """The model's answer to `messages`, piece by piece."""
        return llm.stream(ChatRequest(messages=messages, **options), profile=self.profile)

    async def search_memory(self, query: str) -> Remembered:
        """What the person said in other conversations; the answer then says that it used it."""
        return await memory_search.asked_for(self, query)

    def used(self) -> dict[str, Any]:
        """What the client is told of the memory behind the answer: nothing where no model was given any."""
        told: dict[str, Any] = {"turns": [], "episodes": [], "passages": [], "budget": {}}
        used = self.memory_used if self.memory_used.get("budget") else {}
        return told | used | {"missing": list(dict.fromkeys(self.missing))}
