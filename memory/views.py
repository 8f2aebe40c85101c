"""The memory page: what is remembered of a person, for that person alone."""

from typing import Any
from uuid import UUID

from django.contrib.auth.mixins import LoginRequiredMixin
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.generic import View

from memory import deleting, memory_page
from memory.memory_page import Asked


class MemoryPage(LoginRequiredMixin, View):
    """The list, the map and the switches."""

    def get(self, request: HttpRequest) -> HttpResponse:
        deleting.finish(request.user)
        user = request.user
        context = _listed(request) | {
            "flows": memory_page.flows_of(user),
            "which_choices": memory_page.which_choices(),
            "kind_choices": memory_page.kind_choices(),
            "switches": memory_page.switches_of(user),
            "flow_switches": memory_page.flow_switches(user),
            "spent": memory_page.spent_by(user),
            "page": {"session": None, "undoSeconds": deleting.OFFERED.seconds, "text": memory_page.page_text()},
        }
        return render(request, "memory/page.html", context)


class MemoryList(LoginRequiredMixin, View):
    """A page of the list as a fragment."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return render(request, "memory/_memories.html", _listed(request))


class MemoryItem(LoginRequiredMixin, View):
    """One memory as a fragment, as it stands in the list."""

    def get(self, request: HttpRequest, episode_id: UUID) -> HttpResponse:
        found = Asked(memory=episode_id).page(request.user, "1").object_list
        if not found:
            raise Http404
        return render(request, "memory/_memory.html", {"shown": found[0]})


def _listed(request: HttpRequest) -> dict[str, Any]:
    asked = Asked.of(request.GET)
    rows = asked.page(request.user, request.GET.get("page", "1"))
    return {
        "asked": asked,
        "rows": rows,
        "next_address": asked.next_address(rows),
        "entity": memory_page.entity_of(request.user, asked),
    }
