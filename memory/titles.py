"""Titles of sessions: the first words at once, a title by the model once the first answer is there."""

from datetime import timedelta

import structlog
from django.db.models import Exists, F, OuterRef

import llm
from llm import tokens
from llm.errors import ProviderError
from llm.profile import Profile
from llm.text import shortened
from llm.types import ChatRequest, Message
from memory.claims import claim
from memory.models import REPLAYED, Conversation, JobKind, TitleSource, Turn
from memory.prompts import RULE, Block, fenced
from memory.redaction import redact
from memory.signals import session_changed
from memory.spending import spent

logger = structlog.get_logger(__name__)
ATTEMPTS = 3
CLAIM = timedelta(minutes=2)
TITLE_CHARS = 60
EXCERPT_TOKENS = 300
OUTPUT_TOKENS = 60
INSTRUCTION = (
    "Give the conversation below a title of at most eight words, in the language of its first message, that names "
    f"its subject. Answer with the title alone, without quotes or a full stop. {RULE}"
)


def title_due_sessions(*, limit: int) -> int:
    """Lets the model name sessions that still carry their first words; how many got a title.

    With the offline model nothing is done: first words are better than what it would make up.
    """
    profile = llm.resolve_profile()
    if profile.provider == "offline":
        return 0
    return sum(_title(conversation, profile) for conversation in _claimed(limit))


def _claimed(limit: int) -> list[Conversation]:
    """Due sessions, claimed for two minutes, so that no model is called within a transaction or twice."""
    answered = Turn.objects.filter(conversation=OuterRef("pk"), status__in=REPLAYED).exclude(output="")
    due = Conversation.objects.filter(Exists(answered), title_source=TitleSource.WORDS, title_attempts__lt=ATTEMPTS)
    newest = due.order_by("-last_active_at")
    again = F("title_attempts") + 1
    return claim(newest, column="title_claimed_until", lasting=CLAIM, limit=limit, title_attempts=again)


def _title(conversation: Conversation, profile: Profile) -> bool:
    turn = Turn.objects.replayable(conversation).first()
    if turn is None:
        return False
    try:
        completion = llm.complete(_request(turn), profile=profile)
    except ProviderError as error:
        logger.warning("no title", session_id=str(conversation.pk), error=error.code)
        return False
    spent(conversation.user_id, JobKind.TITLE, completion.usage)
    title = redact(clean(completion.text))
    untouched = Conversation.objects.filter(pk=conversation.pk, title_source=TitleSource.WORDS)
    if not title or not untouched.update(title=title, title_source=TitleSource.MODEL):
        return False
    session_changed.send(sender=Conversation, user_id=conversation.user_id, session_id=conversation.pk)
    return True


def _request(turn: Turn) -> ChatRequest:
    said = "\n\n".join(tokens.cut(redact(text), EXCERPT_TOKENS) for text in (turn.input, turn.output))
    data = fenced([Block("conversation", "[对话]", said)])
    return ChatRequest(
        messages=(Message("system", INSTRUCTION), Message("user", data)), max_tokens=OUTPUT_TOKENS, thinking=False
    )


def clean(answer: str) -> str:
    """The first line of what a model gave, without the quotes and marks that models like to add."""
    lines = [line.strip() for line in answer.splitlines() if line.strip()]
    title = lines[0].strip("#*`\"'“”「」《》 ").removesuffix("。").removesuffix(".") if lines else ""
    return shortened(title, TITLE_CHARS)
