"""Counting the tokens that background jobs spend, for the person they are spent on."""

from django.db import connection
from django.utils import timezone

from llm.types import Usage
from memory.models import JobKind

# One statement, so that two workers that count at once lose nothing, and an account that is erased fails none.
ADD = """
INSERT INTO memory_tokenuse (user_id, day, kind, calls, prompt_tokens, completion_tokens)
SELECT id, %s, %s, 1, %s, %s FROM auth_user WHERE id = %s
ON CONFLICT (user_id, day, kind) DO UPDATE SET calls = memory_tokenuse.calls + 1,
    prompt_tokens = memory_tokenuse.prompt_tokens + EXCLUDED.prompt_tokens,
    completion_tokens = memory_tokenuse.completion_tokens + EXCLUDED.completion_tokens
"""


def spent(user_id: int, kind: JobKind, usage: Usage) -> None:
    """Adds one call of a model to what was spent for a person today (UTC); nothing for one who is gone meanwhile."""
    today = timezone.now().date()
    with connection.cursor() as cursor:
        cursor.execute(ADD, [today, kind, usage.prompt_tokens, usage.completion_tokens, user_id])
