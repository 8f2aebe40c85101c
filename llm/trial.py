"""Trying out a profile: one short question, and how it went."""

import time
from dataclasses import dataclass, replace

from django.utils.functional import Promise

from llm.blocking import complete
from llm.errors import ProviderError
from llm.profile import Profile
from llm.tokens import cut
from llm.types import ChatRequest, Message

QUESTION = "请用一句话介绍您自己。 / Introduce yourself in one sentence."
SHOWN_TOKENS = 60


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a trial ended: the beginning of the answer or the sentence of the error, and how long it took."""

    ok: bool
    text: str | Promise
    ms: int


def try_out(profile: Profile) -> Outcome:
    """Asks the profile's own model, not its fallback, one question. Raises nothing of the model's."""
    request = ChatRequest((Message("user", QUESTION),), thinking=False)
    began = time.monotonic()
    try:
        completion = complete(request, profile=replace(profile, fallback=None))
    except ProviderError as error:
        return Outcome(ok=False, text=error.detail, ms=_since(began))
    return Outcome(ok=True, text=cut(completion.text, SHOWN_TOKENS), ms=_since(began))


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
