"""Looking into the hot copy: what stands in Redis under `mem:`, read without the product."""

from typing import Any

import orjson
from django_redis import get_redis_connection

from memory import window
from memory.models import Conversation


def redis() -> Any:
    """The server that holds the hot copy."""
    return get_redis_connection("memory")


def memory_keys() -> set[str]:
    """Every key that begins with `mem:`."""
    return {key.decode() for key in redis().keys("mem:*")}


def keys_of(session_id: object) -> window.Keys:
    return window.keys_of(Conversation.objects.get(pk=session_id))


def items(session_id: object) -> list[dict[str, Any]]:
    """The session's list, oldest first."""
    return [orjson.loads(raw) for raw in redis().lrange(keys_of(session_id).messages, 0, -1)]


def meta(session_id: object) -> dict[str, str]:
    held = redis().hgetall(keys_of(session_id).meta)
    return {name.decode(): value.decode() for name, value in held.items()}


def said_to(model: Any) -> list[str]:
    """What the model was last sent, the system message left out, as one line a message: `user: …`."""
    messages = model.chats[-1].body["messages"]
    return [f"{m['role']}: {m['content']}" for m in messages if m["role"] != "system"]
