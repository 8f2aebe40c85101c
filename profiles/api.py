"""REST over logins: API tokens, hashed at rest and expiring."""

from datetime import timedelta

from django.conf import settings
from django.contrib.auth import authenticate
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from knox.models import AuthToken
from rest_framework import status
from rest_framework.exceptions import APIException, Throttled
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import AnonRateThrottle
from rest_framework.views import APIView

from profiles.serializers import Credentials, Token


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

    @extend_schema(request=Credentials, responses=Token, auth=[])
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
        if isinstance(request.auth, AuthToken):
            request.auth.delete()
        return Response(status=status.HTTP_204_NO_CONTENT)
