"""Pages of a session's messages for the API."""

from typing import Any
from urllib.parse import urlencode

from rest_framework.request import Request

from memory.fields import whole_number
from memory.models import Conversation, Turn

MESSAGES_A_PAGE = 100


def message_page(conversation: Conversation, request: Request) -> tuple[list[dict[str, Any]], str | None]:
    """Up to 100 messages after `?cursor=`, oldest first, and the address of the next page or None."""
    after = whole_number(request, "cursor", default=0, least=0, most=2**31 - 1)
    limit = whole_number(request, "limit", default=MESSAGES_A_PAGE, least=1, most=MESSAGES_A_PAGE)
    wanted = max(limit // 2, 1)
    turns = list(Turn.objects.shown(conversation).filter(seq__gt=after)[: wanted + 1])
    page, more = turns[:wanted], turns[wanted:]
    following = None
    if more:
        address = request.build_absolute_uri(request.path)
        following = f"{address}?{urlencode({'cursor': page[-1].seq, 'limit': limit})}"
    return [message for turn in page for message in turn.messages_shown()], following
