"""What a person's memory names, as a map, and how long its relations held."""

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import ValidationError
from rest_framework.views import APIView

from memory.editing import change_relation
from memory.errors import RelationNotFound
from memory.fields import query
from memory.graph import episodes_of, map_of
from memory.models import Relation
from memory.serializers import EdgeSerializer, GraphQuery, GraphSerializer, RelationChange


class GraphView(APIView):
    """The map of the caller's memory."""

    @extend_schema(parameters=[GraphQuery], responses=GraphSerializer)
    def get(self, request: Request) -> Response:
        """The 500 names that most memories have, and their relations; with `q`, names that hold it and those beside."""
        found = map_of(request.user, words=query(GraphQuery, request).get("q", ""))
        # Already in the shape of the serializer, which would take longer over it than the database.
        return Response({"nodes": found.nodes, "edges": found.edges})


class RelationDetail(APIView):
    """One relation of the caller's."""

    @extend_schema(request=RelationChange, responses=EdgeSerializer)
    def patch(self, request: Request, relation_id: int) -> Response:
        """Says from when until when it held; one that has ended is recalled no more."""
        change = RelationChange(data=request.data)
        change.is_valid(raise_exception=True)
        stored = Relation.objects.of(request.user).filter(pk=relation_id).first()
        if stored is None or not episodes_of([relation_id]):
            raise RelationNotFound
        dates = {"valid_from": stored.valid_from, "invalid_at": stored.invalid_at} | change.validated_data
        if dates["invalid_at"] and dates["invalid_at"] < dates["valid_from"]:
            raise ValidationError({"invalid_at": _("A relation cannot end before it begins.")})
        relation = change_relation(request.user, relation_id, **dates)
        edge = {name: getattr(relation, name) for name in ("id", "relation", "valid_from", "invalid_at")}
        edge |= {"source": relation.source_id, "target": relation.target_id}
        edge["episode_ids"] = episodes_of([relation_id]).get(relation_id, [])
        return Response(EdgeSerializer(edge).data)
