"""The Celery application: `celery -A celery_app worker` and `celery -A celery_app beat`."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("tacit")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
