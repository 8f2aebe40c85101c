"""The sidebar's conversations, for pages of packages that know nothing of them."""

from typing import Any

from django import template

from flows.page_text import list_text
from flows.session_groups import grouped, recent_sessions

register = template.Library()


@register.simple_tag(takes_context=True)
def conversation_groups(context: template.Context) -> Any:
    """The groups of the list; the texts that its script needs are put beside the page's own."""
    context["page"]["text"] |= list_text()
    return grouped(recent_sessions(context["user"]))
