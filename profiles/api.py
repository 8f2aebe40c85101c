"""REST over logins, people and their work."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from knox.models import AuthToken
from rest_framework import status
from rest_framework.exceptions import APIException, Throttled
from rest_framework.generics import ListAPIView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import AnonRateThrottle
from rest_framework.views import APIView

from memory.fields import Error, Strict, nothing_in, query
from profiles import manager_view, own_profile, work
from profiles.errors import PersonNotFound
from profiles.models import Look, Sight, UserProfile, WorkTask
from profiles.naming import named
from profiles.permissions import Act, policy
from profiles.profile_shapes import OwnProfile, ProfileChange, SeenProfile
from profiles.serializers import (
    Credentials,
    LookSerializer,
    PeopleQuery,
    PersonSerializer,
    TaskChange,
    TaskQuery,
    TaskSerializer,
    TaskStart,
    Token,
)


class LoginThrottle(AnonRateThrottle):
    """Slows down guessing from one address; the lock-out counts for each name besides."""

    scope = "login"


class WrongCredentials(APIException):
    """A login that failed. DRF's own exception would become a 403 here, where no scheme is offered to log in by."""

    status_code = status.HTTP_401_UNAUTHORIZED
    default_code = "authentication_failed"
    default_detail = _("Wrong name or password.")


class Login(APIView):
    """Makes an API token from a name and password."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    throttle_classes = (LoginThrottle,)

    @extend_schema(request=Credentials, responses={200: Token, 401: Error}, auth=[])
    def post(self, request: Request) -> Response:
        """The token is shown once; send it as `Authorization: Token <key>`."""
        given = Credentials(data=request.data)
        given.is_valid(raise_exception=True)
        user = authenticate(request=request._request, **given.validated_data)
        if getattr(request._request, "axes_locked_out", False):
            # Else axes would put its page for people in place of this answer.
            request._request.axes_locked_out = False  # type: ignore[attr-defined]  # axes' own mark
            wait = timedelta(hours=settings.AXES_COOLOFF_TIME).total_seconds()
            raise Throttled(wait, str(_("Too many failed logins. Wait a quarter of an hour and try again.")))
        if user is None:
            raise WrongCredentials
        row, key = AuthToken.objects.create(user=user, expiry=timedelta(days=settings.API_TOKEN_DAYS))
        return Response(Token({"token": key, "expiry": row.expiry}).data)


class Logout(APIView):
    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request) -> Response:
        """Ends the token that the request was made with."""
        nothing_in(request)
        if isinstance(request.auth, AuthToken):
            request.auth.delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


class ShownList(ListAPIView[Any]):
    """A list that others may be in. Those on the page that is given out have been looked at."""

    sight: Sight
    filter_backends = ()

    def subjects(self, rows: Iterable[Any]) -> list[int]:
        """Whose rows these are."""
        raise NotImplementedError

    def paginate_queryset(self, queryset: Any) -> Any:
        rows = super().paginate_queryset(queryset)
        Look.objects.record(self.request.user, self.subjects(rows or ()), sight=self.sight)
        return rows


@extend_schema(parameters=[PeopleQuery])
class People(ShownList):
    """Oneself and everybody below oneself in the reporting line, by name."""

    serializer_class = PersonSerializer
    ordering = ("display_name", "pk")
    sight = Sight.LIST

    def get_queryset(self) -> QuerySet[UserProfile]:
        asked = query(PeopleQuery, self.request)
        people = UserProfile.objects.select_related("department", "user")
        user = self.request.user
        people = people.assignable_by(user) if asked["assignable"] else people.visible_to(user)
        if "q" in asked:
            people = people.filter(pk__in=[person.pk for person in named(asked["q"], people)])
        return people

    def subjects(self, rows: Iterable[Any]) -> list[int]:
        return [person.pk for person in rows]


class TaskList(ShownList):
    """Work: one's own, that of one's team, and what one gave to others."""

    serializer_class = TaskSerializer
    ordering = ("-created_at", "-pk")
    sight = Sight.WORK

    def get_queryset(self) -> QuerySet[WorkTask]:
        asked = query(TaskQuery, self.request)
        tasks = _tasks_of(self.request.user, asked.get("assignee")).prefetch_related("events")
        return tasks.filter(status=asked["status"]) if "status" in asked else tasks

    def subjects(self, rows: Iterable[Any]) -> list[int]:
        return [task.assignee_id for task in rows]

    @extend_schema(parameters=[TaskQuery])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The newest first."""
        return super().get(request, *args, **kwargs)

    @extend_schema(
        request=TaskStart, responses={200: TaskSerializer, 201: TaskSerializer, 404: Error, 409: Error}, filters=False
    )
    def post(self, request: Request) -> Response:
        """Gives work to oneself or somebody below oneself: 201; 200 when `client_key` has made the task before."""
        given = TaskStart(data=request.data)
        given.is_valid(raise_exception=True)
        new = work.NewTask(**{"assignee_id": request.user.pk} | given.validated_data)
        task, is_new = work.give(request.user, new)
        body = TaskSerializer(work.visible_task(request.user, task.pk)).data
        return Response(body, status=status.HTTP_201_CREATED if is_new else status.HTTP_200_OK)


class TaskDetail(APIView):
    """One task that one may see."""

    @extend_schema(responses=TaskSerializer)
    def get(self, request: Request, task_id: int) -> Response:
        """The task with its history, the oldest event first."""
        query(Strict, request)
        task = work.visible_task(request.user, task_id)
        Look.objects.record(request.user, [task.assignee_id], sight=Sight.WORK)
        return Response(TaskSerializer(task).data)

    @extend_schema(request=TaskChange, responses={200: TaskSerializer, 403: Error, 409: Error})
    def patch(self, request: Request, task_id: int) -> Response:
        """The assignee moves the status, the creator edits or cancels."""
        change = TaskChange(data=request.data)
        change.is_valid(raise_exception=True)
        task = work.change(request.user, task_id, change.validated_data)
        return Response(TaskSerializer(task).data)


class Profile(APIView):
    """The caller's own profile."""

    @extend_schema(responses=OwnProfile)
    def get(self, request: Request) -> Response:
        """All of it: figures with their samples, tags with the memories that they were noticed in, preferences."""
        query(Strict, request)
        return Response(OwnProfile(own_profile.own_profile(request.user)).data)

    @extend_schema(request=ProfileChange, responses={200: OwnProfile})
    def patch(self, request: Request) -> Response:
        """Sets preferences, confirms or rejects tags, and shares or withholds them from one's manager."""
        change = ProfileChange(data=request.data)
        change.is_valid(raise_exception=True)
        own_profile.change(request.user, change.validated_data)
        return Response(OwnProfile(own_profile.own_profile(request.user)).data)


class ProfileOfReport(APIView):
    """The profile of somebody who reports to the caller, directly or not."""

    @extend_schema(operation_id="memory_profile_of_report", responses=SeenProfile)
    def get(self, request: Request, user_id: int) -> Response:
        """Directory fields, work figures, flows used, and the tags that the person confirmed and shares."""
        query(Strict, request)
        return Response(SeenProfile(manager_view.look_at(request.user, user_id)).data)


class AccessLog(ListAPIView[Look]):
    """Who looked at the caller's profile, work or reports, the newest first. Kept for two years."""

    serializer_class = LookSerializer
    ordering = ("-at", "-pk")
    filter_backends = ()

    def get_queryset(self) -> QuerySet[Look]:
        query(Strict, self.request)
        return Look.objects.at(self.request.user).select_related("viewer__profile")


def _tasks_of(user: Any, assignee: str | None) -> QuerySet[WorkTask]:
    """`me`, `team`, or somebody by id; without any of these everything that `user` may see. Raises PersonNotFound."""
    tasks = WorkTask.objects.visible_to(user)
    if assignee is None:
        return tasks
    if assignee == "me":
        return tasks.filter(assignee_id=user.pk)
    if assignee == "team":
        return WorkTask.objects.of_team(user)
    if not (assignee.isascii() and assignee.isdecimal() and len(assignee) < 19):
        raise PersonNotFound
    if not policy.allows(user, Act.SEE, User(pk=int(assignee))):
        raise PersonNotFound
    return tasks.filter(assignee_id=int(assignee))
