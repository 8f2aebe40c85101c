"""Conversations, searching them, erasing, exporting, and the switches."""

from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory import forgetting
from memory.export import pieces, streamed
from memory.fields import Error, Strict, nothing_in, query
from memory.manager import MemoryManager
from memory.models import Conversation, MemoryOwner
from memory.pages import message_page
from memory.person import Person
from memory.retrieval.search import Query
from memory.serializers import (
    EraseReport,
    EraseRequest,
    ExportQuery,
    FoundSerializer,
    SearchQuery,
    SessionChange,
    SessionDetailSerializer,
    SessionQuery,
    SessionSerializer,
    SettingsChange,
    SettingsSerializer,
    ShareSerializer,
)
from memory.transcripts import as_data, as_markdown


@extend_schema(parameters=[SessionQuery])
class SessionList(ListAPIView[Conversation]):
    """The caller's sessions, newest first."""

    serializer_class = SessionSerializer
    ordering = ("-last_active_at", "-pk")
    filter_backends = ()

    def get_queryset(self) -> QuerySet[Conversation]:
        asked = query(SessionQuery, self.request)
        sessions = MemoryManager().list_user_sessions(self.request.user, flow_id=asked.get("flow_id"))
        if "q" in asked:
            sessions = sessions.matching(asked["q"])
        return sessions


class Search(APIView):
    """What the caller said in any session, by words and meaning."""

    @extend_schema(parameters=[SearchQuery], responses=FoundSerializer)
    def get(self, request: Request) -> Response:
        """The turns that bear on `q`, best first."""
        asked = query(SearchQuery, request)
        context = MemoryManager().retrieve_memory(
            request.user, Query(asked["q"], limit=asked["k"], archived=True, deadline=settings.SEARCH_SECONDS)
        )
        found = {
            "results": context.hits,
            "entities": context.related_entities,
            "relations": context.related_relations,
            "missing": context.missing,
            "took_ms": context.took_ms,
        }
        return Response(FoundSerializer(found).data)


class SessionDetail(APIView):
    """One session of the caller."""

    @extend_schema(
        responses=SessionDetailSerializer,
        parameters=[OpenApiParameter("cursor", str), OpenApiParameter("limit", int)],
    )
    def get(self, request: Request, session_id: UUID) -> Response:
        """The session with a page of its messages, oldest first."""
        query(Strict, request)
        conversation = self._session(request, session_id)
        conversation.messages, conversation.next = message_page(conversation, request)  # type: ignore[attr-defined]
        return Response(SessionDetailSerializer(conversation).data)

    @extend_schema(request=SessionChange, responses=SessionSerializer)
    def patch(self, request: Request, session_id: UUID) -> Response:
        """Renames the session, or turns its switches."""
        change = SessionChange(data=request.data)
        change.is_valid(raise_exception=True)
        MemoryManager().change_session(request.user, session_id, **change.validated_data)
        return Response(SessionSerializer(self._session(request, session_id)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, session_id: UUID) -> Response:
        """Erases the session and everything made from it."""
        nothing_in(request)
        MemoryManager().delete_session(request.user, session_id)
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _session(self, request: Request, session_id: UUID) -> Conversation:
        return MemoryManager().get_session(request.user, session_id)


class SessionExport(APIView):
    """One session as a document."""

    @extend_schema(
        parameters=[ExportQuery],
        responses={(200, "text/markdown"): OpenApiTypes.STR, (200, "application/json"): OpenApiTypes.OBJECT},
    )
    def get(self, request: Request, session_id: UUID) -> HttpResponseBase:
        """A download, as Markdown or (`?as=json`) as data."""
        asked = query(ExportQuery, request)
        conversation = MemoryManager().get_session(request.user, session_id)
        if asked["as"] == "json":
            response: HttpResponseBase = JsonResponse(as_data(conversation), json_dumps_params={"ensure_ascii": False})
        else:
            response = HttpResponse(as_markdown(conversation), content_type="text/markdown; charset=utf-8")
        name = f"tacit-{conversation.created_at:%Y-%m-%d}-{str(conversation.pk)[:8]}"
        suffix = "json" if asked["as"] == "json" else "md"
        response["Content-Disposition"] = f'attachment; filename="{name}.{suffix}"'
        return response


class SessionShare(APIView):
    """A link under which colleagues read a session as it stands now."""

    @extend_schema(request=None, responses=ShareSerializer)
    def post(self, request: Request, session_id: UUID) -> Response:
        """Makes the link, or brings the one there is up to date."""
        nothing_in(request)
        shared = MemoryManager().share_session(request.user, session_id)
        address = request.build_absolute_uri(f"/shared/{shared.token}/")
        return Response(ShareSerializer({"url": address, "created_at": shared.created_at}).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, session_id: UUID) -> Response:
        """Ends the link."""
        nothing_in(request)
        MemoryManager().unshare_session(request.user, session_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class Erase(APIView):
    """Clear memory: one session, one flow, or everything."""

    @extend_schema(request=EraseRequest, responses={200: EraseReport, 404: Error})
    def post(self, request: Request) -> Response:
        """Erases for good and reports what went where."""
        asked = EraseRequest(data=request.data)
        asked.is_valid(raise_exception=True)
        wanted = asked.validated_data | {"scope": forgetting.Scope(asked.validated_data["scope"])}
        report = forgetting.erase(request.user, **wanted)
        return Response(EraseReport(report.as_dict()).data)


class Export(APIView):
    """Everything that is held about the caller."""

    @extend_schema(responses={(200, "application/json"): OpenApiTypes.OBJECT})
    def get(self, request: Request) -> HttpResponseBase:
        """A download that is written while it is read; `docs/privacy.md` says what is in it."""
        query(Strict, request)
        response = StreamingHttpResponse(streamed(pieces(request.user)), content_type="application/json")
        response["Content-Disposition"] = f'attachment; filename="tacit-{timezone.now():%Y-%m-%d}.json"'
        return response


class Settings(APIView):
    """The caller's switches for all flows."""

    @extend_schema(responses=SettingsSerializer)
    def get(self, request: Request) -> Response:
        """The switches as they stand."""
        return Response(SettingsSerializer(_owner(request)).data)

    @extend_schema(request=SettingsChange, responses=SettingsSerializer)
    def patch(self, request: Request) -> Response:
        """Turns switches."""
        change = SettingsChange(data=request.data)
        change.is_valid(raise_exception=True)
        owner = _owner(request)
        if change.validated_data:
            MemoryOwner.objects.filter(pk=owner.pk).update(**change.validated_data)
        return Response(SettingsSerializer(_owner(request)).data)


def _owner(request: Request) -> MemoryOwner:
    owner: Person = request.user
    return MemoryOwner.objects.get_or_create(user_id=owner.pk)[0]
