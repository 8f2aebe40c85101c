"""Memories: listed, searched, written by hand, edited, deleted, and taken back."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory import deleting
from memory.editing import Changes, edit
from memory.fields import Error, Strict, nothing_in, query
from memory.listing import listed, relate, shown, with_parts
from memory.models import Episode
from memory.remembering import remember
from memory.serializers import EpisodeChange, EpisodeNew, EpisodeQuery, EpisodeSerializer


class EpisodeList(ListAPIView[Episode]):
    """The caller's memories."""

    serializer_class = EpisodeSerializer
    ordering = ("-occurred_to", "-pk")
    filter_backends = ()

    @extend_schema(parameters=[EpisodeQuery])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The caller's memories, the newest first, whatever their status unless it is asked for."""
        deleting.finish(request.user)
        return super().get(request, *args, **kwargs)

    def get_queryset(self) -> QuerySet[Episode]:
        return with_parts(listed(self.request.user, query(EpisodeQuery, self.request)))

    def paginate_queryset(self, queryset: Any) -> Any:
        """One page, each memory with those related to it."""
        page = super().paginate_queryset(queryset)
        relate(self.request.user, page or ())
        return page

    @extend_schema(request=EpisodeNew, responses={200: EpisodeSerializer, 201: EpisodeSerializer})
    def post(self, request: Request) -> Response:
        """Remembers a sentence. One that says what a memory says already gives that one, with 200."""
        new = EpisodeNew(data=request.data)
        new.is_valid(raise_exception=True)
        made = remember(request.user, new.validated_data["summary"], pinned=new.validated_data["pinned"])
        known = made.merged_into
        code = status.HTTP_200_OK if known else status.HTTP_201_CREATED
        return Response(EpisodeSerializer(shown(request.user, (known or made).pk)).data, status=code)


class EpisodeDetail(APIView):
    """One memory of the caller."""

    @extend_schema(responses=EpisodeSerializer)
    def get(self, request: Request, episode_id: UUID) -> Response:
        """The memory."""
        query(Strict, request)
        return Response(EpisodeSerializer(shown(request.user, episode_id)).data)

    @extend_schema(request=EpisodeChange, responses={200: EpisodeSerializer, 409: Error})
    def patch(self, request: Request, episode_id: UUID) -> Response:
        """Changes the memory, all that is named or nothing. No job overwrites it afterwards."""
        change = EpisodeChange(data=request.data)
        change.is_valid(raise_exception=True)
        edit(request.user, episode_id, Changes(**change.validated_data))
        return Response(EpisodeSerializer(shown(request.user, episode_id)).data)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, episode_id: UUID) -> Response:
        """Deletes the memory and what would bring it back. It can be taken back for some seconds."""
        nothing_in(request)
        deleting.delete(request.user, episode_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


class EpisodeTakeBack(APIView):
    """Taking a deletion back."""

    @extend_schema(request=None, responses=EpisodeSerializer)
    def post(self, request: Request, episode_id: UUID) -> Response:
        """Brings back a memory that was deleted just now; 404 when it is too late."""
        nothing_in(request)
        deleting.take_back(request.user, episode_id)
        return Response(EpisodeSerializer(shown(request.user, episode_id)).data)
