"""The sidebar's conversations and the names of flows, for pages of packages that know nothing of them."""

from typing import Any

from django import template

from flows.models import Flow
from flows.page_text import list_text
from flows.session_groups import grouped, recent_sessions

register = template.Library()


@register.simple_tag(takes_context=True)
def conversation_groups(context: template.Context) -> Any:
    """The groups of the list; the texts that its script needs are put beside the page's own."""
    context["page"]["text"] |= list_text()
    return grouped(recent_sessions(context["user"]))


@register.simple_tag(takes_context=True)
def flow_names(context: template.Context) -> dict[int, str]:
    """What the flows that the reader may use are called now, in the reader's language, by their ids."""
    return {flow.pk: flow.shown()["name"] for flow in Flow.objects.usable_by(context["user"])}


@register.filter
def named(names: dict[int, str], flow_id: int) -> str:
    """The name of one of them; nothing for a flow that is not among them."""
    return names.get(flow_id, "")
