"""Makes a question that stands by itself out of one that does not ("and the second one?"), for the search of memory.

Off unless a flow's settings ask for it: it calls the model before every answer but the first of a conversation.
"""

from contextlib import aclosing

import structlog
from django.conf import settings

from flows.plugins.base import Plugin
from flows.turn import MESSAGES_FOR_CHORES, FlowTurn
from llm import tokens
from llm.text import safe
from llm.types import Message
from memory.prompts import RULE, Block, fenced
from memory.retrieval.tokens import tokens as search_tokens
from memory.telemetry import REWRITE_DISTANCE

logger = structlog.get_logger(__name__)
LONGEST = 120
"""Tokens of a rewritten question at most."""
EXCERPT_TOKENS = 200
INSTRUCTION = (
    "Rewrite the last question of the conversation below so that it can be understood without the conversation: put "
    "names, codes and dates in the place of words that point back. Keep its language. Answer with the question alone. "
    f"{RULE}"
)


class QueryRewrite(Plugin):
    """Stands before long-term memory in the list, which searches for what this one found."""

    name = "query_rewrite"
    budget = 3.0

    async def before(self, turn: FlowTurn) -> None:
        wanted = turn.definition.settings.rewrite_query and settings.RECALL_QUERY == "rewritten"
        if not (wanted and turn.turn.memory_enabled and turn.recalled.messages and turn.asks_a_model):
            return
        rewritten = await _ask(turn)
        if rewritten:
            turn.rewritten = rewritten
            far = distance(turn.words, rewritten)
            REWRITE_DISTANCE.observe(far)
            logger.info("query rewritten", turn_id=str(turn.turn_id), distance=round(far, 2))


async def _ask(turn: FlowTurn) -> str:
    said = [
        f"{message['role']}: {tokens.cut(message['content'], EXCERPT_TOKENS, keep='both')}"
        for message in turn.recalled.messages[-MESSAGES_FOR_CHORES:]
    ]
    said.append(f"user: {tokens.cut(turn.words, EXCERPT_TOKENS * 2, keep='both')}")
    data = fenced([Block("conversation", "[对话]", "\n".join(said))])
    messages = (Message("system", INSTRUCTION), Message("user", data))
    text: list[str] = []
    async with aclosing(turn.stream(messages, max_tokens=LONGEST, thinking=False)) as chunks:
        async for chunk in chunks:
            text.append(chunk.text)
    return tokens.cut(safe(" ".join("".join(text).split())), LONGEST)


def distance(words: str, rewritten: str) -> float:
    """1 less the share of tokens in common (Jaccard's distance): 0 for the same tokens, 1 for none."""
    before, after = set(search_tokens(words)), set(search_tokens(rewritten))
    return 1 - len(before & after) / len(before | after) if before | after else 0.0
