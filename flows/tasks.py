"""Jobs of flows that beat starts."""

from celery import shared_task
from django.core.management import call_command
from django.utils import timezone
from knox.models import AuthToken


@shared_task
def delete_expired_logins() -> None:
    """Deletes login sessions and API tokens that have expired."""
    call_command("clearsessions")
    AuthToken.objects.filter(expiry__lt=timezone.now()).delete()
