"""A conversation in the one order that every chat template takes.

One system message, first; then user and assistant in turn, the user first; tool results behind the call that
they answer. Many templates refuse anything else with an error 400.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from llm.text import text_of
from llm.types import Message

GAP = "\n\n"
"""Between two messages that become one."""


def normalised(messages: Iterable[Message]) -> list[Message]:
    """`messages` in that order, texts made safe. A prompt of nothing but system text becomes the user's."""
    clean = [replace(message, content=text_of(message.content)) for message in messages]
    system = GAP.join(message.content for message in clean if message.role == "system" and message.content.strip())
    turns = list(_alternating(_without_failed(message for message in clean if message.role != "system")))
    if not turns:
        return [Message("user", system)] if system else []
    return [Message("system", system), *turns] if system else turns


def _without_failed(messages: Iterable[Message]) -> list[Message]:
    """Leaves out empty messages, and with a failed answer its question, unless that is the current one."""
    kept: list[Message] = []
    pending: Message | None = None
    for message in messages:
        if message.role == "assistant" and not message.content.strip() and not message.tool_calls:
            if pending is None and kept and kept[-1].role == "user":
                pending = kept.pop()
            continue
        if message.role == "user" and not message.content.strip():
            continue
        pending = None
        kept.append(message)
    return [*kept, pending] if pending else kept


def _alternating(messages: Iterable[Message]) -> Iterator[Message]:
    """Starts at the first user message, joins neighbours of one role, drops tool results without a call."""
    last: Message | None = None
    open_calls: set[str] = set()
    for message in messages:
        open_calls |= {call.id for call in message.tool_calls}
        if last is None and message.role != "user":
            continue
        if message.role == "tool" and message.tool_call_id not in open_calls:
            continue
        if last is not None and _joinable(last, message):
            last = replace(last, content=last.content + GAP + message.content)
            continue
        if last is not None:
            yield last
        last = message
    if last is not None:
        yield last


def _joinable(one: Message, other: Message) -> bool:
    return one.role == other.role != "tool" and not one.tool_calls and not other.tool_calls
