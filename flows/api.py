"""REST over flows and turns. Everything is the caller's own."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.generics import ListAPIView, RetrieveAPIView
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import UserRateThrottle
from rest_framework.views import APIView

from flows.answering import open_again, open_answer, open_words
from flows.endings import sentence
from flows.errors import FlowNotFound, RunFailed
from flows.listening import begin_from_thread, finished, stop, wait_for
from flows.models import Favourite, Flow
from flows.serializers import (
    ActionAnswer,
    ExecuteResult,
    Feedback,
    FlowMemorySwitch,
    FlowSerializer,
    TurnSerializer,
    TurnStart,
    TurnStarted,
)
from flows.stream import EventStreamRenderer, stream_response
from memory.fields import Error, Strict, nothing_in, query
from memory.manager import MemoryManager
from memory.models import ForgetfulFlow, TurnStatus
from memory.person import Person

EVENT_STREAM = {(200, "text/event-stream"): OpenApiResponse(OpenApiTypes.STR, description="Events, see docs/api.md")}
TAKEN = {404: Error, 409: Error}
"""What a turn that cannot begin is answered with."""
FAILED = {413: Error, 502: Error, 504: Error}
"""What whoever waits for an answer gets when it fails."""
HTML = OpenApiParameter("html", bool, description="Also send rendered blocks.")


class TurnThrottle(UserRateThrottle):
    """Starting a turn costs a model call, so it has a rate of its own."""

    scope = "turns"


class FlowList(ListAPIView[Flow]):
    """The flows that the caller may use."""

    serializer_class = FlowSerializer
    ordering = ("pk",)

    def get_queryset(self) -> QuerySet[Flow]:
        query(Strict, self.request)  # there is nothing to filter by yet
        return Flow.objects.usable_by(self.request.user)


class FlowDetail(RetrieveAPIView[Flow]):
    """One flow that the caller may use."""

    serializer_class = FlowSerializer

    def get_queryset(self) -> QuerySet[Flow]:
        return Flow.objects.usable_by(self.request.user)


class FlowFavourite(APIView):
    """Whether the caller keeps the flow at hand."""

    @extend_schema(request=None, responses={204: None})
    def put(self, request: Request, flow_id: int) -> Response:
        """Marks the flow as a favourite."""
        nothing_in(request)
        owner: Person = request.user
        Favourite.objects.get_or_create(user_id=owner.pk, flow=_usable_flow(request, flow_id))
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(responses={204: None})
    def delete(self, request: Request, flow_id: int) -> Response:
        """Takes the mark away."""
        nothing_in(request)
        Favourite.objects.of(request.user).filter(flow=_usable_flow(request, flow_id)).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


class FlowMemory(APIView):
    """Whether the caller has memory on in the flow; the other switches can still narrow it."""

    @extend_schema(responses=FlowMemorySwitch)
    def get(self, request: Request, flow_id: int) -> Response:
        """The switch as it stands."""
        flow = _usable_flow(request, flow_id)
        off = ForgetfulFlow.objects.of(request.user).filter(flow_id=flow.pk).exists()
        return Response({"memory_enabled": not off})

    @extend_schema(request=FlowMemorySwitch, responses=FlowMemorySwitch)
    def put(self, request: Request, flow_id: int) -> Response:
        """Turns it. Off: nothing said here from now on is remembered, and nothing from elsewhere is used here."""
        wanted = FlowMemorySwitch(data=request.data)
        wanted.is_valid(raise_exception=True)
        flow, memory = _usable_flow(request, flow_id), wanted.validated_data["memory_enabled"]
        ForgetfulFlow.objects.all().switch(request.user, flow_id=flow.pk, flow_name=flow.name, memory=memory)
        return Response({"memory_enabled": memory})


class Execute(APIView):
    """Says something in a flow and waits for the answer."""

    throttle_classes = (TurnThrottle,)

    @extend_schema(request=TurnStart, responses={200: ExecuteResult} | TAKEN | FAILED)
    def post(self, request: Request, flow_id: int) -> Response:
        """The whole answer, also when it was stopped; 502 or 504 when the model failed."""
        command = TurnStart(data=request.data).command(flow_id)
        turn_id = begin_from_thread(open_words, request.user, command)
        turn = wait_for(finished(request.user, turn_id))
        if turn.status in (TurnStatus.FAILED, TurnStatus.INTERRUPTED):
            code = turn.error_code or str(TurnStatus.INTERRUPTED)
            raise RunFailed(turn.pk, code, sentence(code))
        return Response(ExecuteResult(turn).data)


class Stream(APIView):
    """Says something in a flow and streams the answer."""

    throttle_classes = (TurnThrottle,)
    renderer_classes = (JSONRenderer, EventStreamRenderer)

    @extend_schema(request=TurnStart, responses=EVENT_STREAM | TAKEN, parameters=[HTML])
    def post(self, request: Request, flow_id: int) -> StreamingHttpResponse:
        """Server-Sent Events; a repeat with the same client_turn_id attaches to the turn."""
        command = TurnStart(data=request.data).command(flow_id)
        return stream_response(request, begin_from_thread(open_words, request.user, command))


class TurnDetail(APIView):
    @extend_schema(responses=TurnSerializer)
    def get(self, request: Request, turn_id: UUID) -> Response:
        """The turn as it stands now."""
        return Response(TurnSerializer(MemoryManager().get_turn(request.user, turn_id)).data)


class TurnEvents(APIView):
    renderer_classes = (JSONRenderer, EventStreamRenderer)

    @extend_schema(
        responses=EVENT_STREAM,
        parameters=[HTML, OpenApiParameter("Last-Event-ID", int, OpenApiParameter.HEADER)],
    )
    def get(self, request: Request, turn_id: UUID) -> StreamingHttpResponse:
        """The turn's events after `Last-Event-ID`, those to come included."""
        MemoryManager().get_turn(request.user, turn_id)
        last_id = request.headers.get("Last-Event-ID", "")
        after = int(last_id) if last_id.isascii() and last_id.isdecimal() and len(last_id) < 10 else 0
        return stream_response(request, turn_id, after=after)


class TurnStop(APIView):
    @extend_schema(request=None, responses={202: TurnStarted})
    def post(self, request: Request, turn_id: UUID) -> Response:
        """Stops the answer; what was said so far is kept. Nothing happens to a turn that has ended."""
        nothing_in(request)
        wait_for(stop(request.user, turn_id))
        return Response({"turn_id": turn_id}, status=status.HTTP_202_ACCEPTED)


class TurnRegenerate(APIView):
    throttle_classes = (TurnThrottle,)

    @extend_schema(request=None, responses={202: TurnStarted} | TAKEN)
    def post(self, request: Request, turn_id: UUID) -> Response:
        """Answers the last question of a session again, in a new turn that replaces this one."""
        nothing_in(request)
        old = MemoryManager().get_turn(request.user, turn_id)
        turn_id = begin_from_thread(open_again, request.user, old)
        return Response({"turn_id": turn_id}, status=status.HTTP_202_ACCEPTED)


class ActionDetail(APIView):
    throttle_classes = (TurnThrottle,)

    @extend_schema(request=ActionAnswer, responses={202: TurnStarted} | TAKEN)
    def post(self, request: Request, action_id: UUID) -> Response:
        """Answers a confirm card: the run that proposed it goes on in a new turn. Twice gives the first result."""
        reply = ActionAnswer(data=request.data).reply()
        turn_id = begin_from_thread(open_answer, request.user, action_id, reply)
        return Response({"turn_id": turn_id}, status=status.HTTP_202_ACCEPTED)


class TurnFeedback(APIView):
    @extend_schema(request=Feedback, responses={204: None})
    def post(self, request: Request, turn_id: UUID) -> Response:
        """Keeps a thumb, up or down; a second one replaces the first."""
        given = Feedback(data=request.data)
        given.is_valid(raise_exception=True)
        turn = MemoryManager().get_turn(request.user, turn_id)
        turn.rating = given.validated_data["rating"]
        turn.rating_reason = given.validated_data.get("reason", "")
        turn.shared_for_review = given.validated_data.get("share", False)
        turn.save(update_fields=["rating", "rating_reason", "shared_for_review"])
        return Response(status=status.HTTP_204_NO_CONTENT)


def _usable_flow(request: Request, flow_id: int) -> Flow:
    flow = Flow.objects.usable_by(request.user).filter(pk=flow_id).first()
    if flow is None:
        raise FlowNotFound
    return flow
