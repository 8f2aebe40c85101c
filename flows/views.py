"""The pages: the catalogue and the chat, rendered on the server. Scripts take over where something moves."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.mixins import LoginRequiredMixin
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.generic import TemplateView, View

from flows import transcript
from flows.conversation import published
from flows.models import Category, Favourite, Flow
from flows.page_text import chat_text, code_text, list_text, spending
from flows.recalled import sources
from flows.session_groups import grouped, recent_sessions
from llm.text import safe
from memory.manager import MemoryManager
from memory.models import Conversation, ForgetfulFlow, MemoryOwner, SharedConversation, Turn
from memory.person import Person

RECENT = 3
LARGEST_SEQ = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Shelf:
    """The flows of one category."""

    label: str
    flows: list[Flow]


class CatalogueView(LoginRequiredMixin, TemplateView):
    """The flows that a person may use, on shelves, and the conversations that they were last in."""

    template_name = "flows/catalogue.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        user = self.request.user
        sessions = recent_sessions(user)
        flows = list(Flow.objects.usable_by(user).order_by("pk"))
        favourites = set(Favourite.objects.of(user).values_list("flow_id", flat=True))
        return super().get_context_data(
            person=_name(user),
            shelves=_shelves(flows, favourites),
            favourites=favourites,
            recent=sessions[:RECENT],
            session_groups=grouped(sessions),
            page={"session": None, "text": list_text()},
            **kwargs,
        )


class SessionListView(LoginRequiredMixin, View):
    """The sidebar's list as a fragment: whole and fresh, or those with the words of `?q=`."""

    def get(self, request: HttpRequest) -> HttpResponse:
        words = safe(request.GET.get("q", "")).strip()[:200]
        context = {
            "session_groups": grouped(recent_sessions(request.user, words=words)),
            "current_session": _uuid(request.GET.get("current", "")),
            "query": words,
        }
        return render(request, "flows/_sessions.html", context)


class ChatView(LoginRequiredMixin, View):
    """A conversation with a flow: a given one, else the latest, else (`?new=1`, `?starter=2`) a fresh one.

    With `?before=SEQ` or `?after=SEQ` only the turns there, as a fragment.
    """

    def get(self, request: HttpRequest, flow_id: int, session_id: uuid.UUID | None = None) -> HttpResponse:
        flow = get_object_or_404(Flow.objects.usable_by(request.user), pk=flow_id)
        mine = Conversation.objects.visible_to(request.user).filter(flow_id=flow.pk).select_related("shared")
        conversation: Conversation | None
        if session_id:
            conversation = get_object_or_404(mine, pk=session_id)
            for direction, turns in (("before", transcript.before), ("after", transcript.after)):
                if direction in request.GET:
                    return _fragment(request, turns(conversation, _seq(request.GET[direction])))
        else:
            fresh = "new" in request.GET or "starter" in request.GET
            conversation = None if fresh else mine.first()
        if conversation and conversation.seen_seq < conversation.last_seq:
            MemoryManager().mark_seen(request.user, conversation.pk)
        return render(request, "flows/chat.html", _chat(request, flow, conversation))


class TurnDetailView(LoginRequiredMixin, View):
    """What one answer used, as a fragment: tokens, and how the prompt's budget was spent."""

    def get(self, request: HttpRequest, turn_id: uuid.UUID) -> HttpResponse:
        turn = get_object_or_404(Turn.objects.visible_to(request.user), pk=turn_id)
        return render(request, "flows/_turn_detail.html", {"rows": spending(turn)})


class RecalledView(LoginRequiredMixin, View):
    """The memories that one answer used, as a fragment: each with its words and the way to where they were said."""

    def get(self, request: HttpRequest, turn_id: uuid.UUID) -> HttpResponse:
        turn = get_object_or_404(Turn.objects.visible_to(request.user), pk=turn_id)
        return render(request, "flows/_recalled.html", {"sources": sources(request.user, turn)})


class SharedView(LoginRequiredMixin, View):
    """A conversation that a colleague shares, as it stood then: to read, nothing else."""

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        links = SharedConversation.objects.select_related("conversation__user__profile")
        shared = get_object_or_404(links, token=token)
        until = min(_seq(request.GET.get("before", str(LARGEST_SEQ))), shared.last_seq + 1)
        context = {
            "shared": shared,
            "conversation": shared.conversation,
            "person": _name(shared.conversation.user),
            "stretch": transcript.before(shared.conversation, until),
            "page": {"text": code_text()},
        }
        return render(request, "flows/shared.html", context)


def nothing_here(request: HttpRequest, **_parts: str) -> HttpResponse:
    """A malformed address looks like a foreign one."""
    raise Http404


def _shelves(flows: list[Flow], favourites: set[int]) -> list[Shelf]:
    """The favourites first, then the others by category."""
    kept = [flow for flow in flows if flow.pk in favourites]
    others = [flow for flow in flows if flow.pk not in favourites]
    by_category = [Shelf(str(c.label), [flow for flow in others if flow.category == c]) for c in Category]
    return [shelf for shelf in (Shelf(_("Favourites"), kept), *by_category) if shelf.flows]


def _chat(request: HttpRequest, flow: Flow, conversation: Conversation | None) -> dict[str, Any]:
    about = flow.shown()
    sought = _sought(request, conversation)
    stretch = _shown_first(conversation, sought)
    running = next((turn.id for turn in stretch.turns if turn.status == "running"), None)
    memory = _memory_switch(request.user, flow, conversation)
    return {
        "flow": flow,
        "about": about,
        "conversation": conversation,
        "current_session": conversation.pk if conversation else None,
        "session_groups": grouped(recent_sessions(request.user)),
        "turns": stretch.turns,
        "older": stretch.older,
        "blank": transcript.ShownTurn(),
        "memory": memory,
        "draft": _starter(request, about["starters"]),
        "page": {
            "flow": flow.pk,
            "session": str(conversation.pk) if conversation else None,
            "title": conversation.title if conversation else "",
            "shared": hasattr(conversation, "shared"),
            "running": running,
            "zone": timezone.get_current_timezone_name(),
            "sought": str(sought.pk) if sought else None,
            "text": chat_text(about["name"]),
        },
    }


def _sought(request: HttpRequest, conversation: Conversation | None) -> Turn | None:
    """The turn that `?at=` asks to see."""
    turn_id = _uuid(request.GET.get("at", ""))
    return Turn.objects.shown(conversation).filter(pk=turn_id).first() if conversation and turn_id else None


def _shown_first(conversation: Conversation | None, sought: Turn | None) -> transcript.Stretch:
    if conversation is None:
        return transcript.Stretch()
    return transcript.since(conversation, sought) if sought else transcript.newest(conversation)


def _memory_switch(user: Person, flow: Flow, conversation: Conversation | None) -> dict[str, Any]:
    """`{on, locked, off_here}`: `locked` says why the switch cannot be turned here, the widest reason first.

    `off_here`: the person switched memory off in this flow.
    """
    owner = MemoryOwner.objects.filter(user_id=user.pk).first()
    off_here = ForgetfulFlow.objects.of(user).filter(flow_id=flow.pk).exists()
    version = conversation.flow_version if conversation else flow.published_version
    locked = ""
    if owner and not owner.memory_enabled:
        locked = _("You switched memory off for all flows.")
    elif off_here:
        locked = _("You switched memory off in this flow.")
    elif version and not published(flow.pk, version).settings.memory:
        locked = _("This flow keeps no memory.")
    on = not locked and (conversation is None or conversation.memory_enabled)
    return {"on": on, "locked": locked, "off_here": off_here}


def _name(user: Person) -> str:
    """How a person is called."""
    profile = getattr(user, "profile", None)
    return str(profile or user)


def _starter(request: HttpRequest, starters: list[str]) -> str:
    """The starter prompt that `?starter=` names by its place, for the box."""
    place = request.GET.get("starter", "")
    return starters[int(place) - 1] if place in map(str, range(1, len(starters) + 1)) else ""


def _fragment(request: HttpRequest, stretch: transcript.Stretch) -> HttpResponse:
    response = render(request, "flows/_turns.html", {"turns": stretch.turns})
    response["Tacit-Older"] = "1" if stretch.older else "0"
    return response


def _seq(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 10):
        raise Http404
    return min(int(text), LARGEST_SEQ)


def _uuid(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None
