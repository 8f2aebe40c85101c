"""The product's settings, with what tests change: a Redis database for each worker, quick passwords, no waiting."""

import os
import re

from config.settings import *  # noqa: F403
from config.settings import CACHES, CHANNEL_LAYERS, FLOW_PLUGINS, REDIS_URL

_worker = int(re.sub(r"\D", "", os.environ.get("PYTEST_XDIST_WORKER", "")) or 0)

DEBUG = False
REDIS_URL = MEMORY_REDIS_URL = re.sub(r"/\d+$", "", REDIS_URL) + f"/{_worker + 1}"
for _cache in CACHES.values():
    _cache["LOCATION"] = REDIS_URL
# Pub/sub knows no database numbers, so that workers are kept apart by the prefix.
CHANNEL_LAYERS["default"]["CONFIG"]["prefix"] = f"tacit:test:{_worker}"

STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = True
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "testserver"]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = False
SECURE_HSTS_SECONDS = 0
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
LLM_BASE_URL = LLM_API_KEY = LLM_MODEL = ""
EMBEDDING_BASE_URL = EMBEDDING_API_KEY = ""
EMBEDDING_MODEL = "none"  # tests that search by meaning name an embedder
LLM_OFFLINE_DELAY = 0
DRAIN_SECONDS = 2
RECALL_SECONDS = SEARCH_SECONDS = 10  # a busy machine is no reason to forget
# Everybody's name and work before every question would hide what is looked at there; their own tests put them back.
FLOW_PLUGINS = [plugin for plugin in FLOW_PLUGINS if not plugin.endswith((".Portrait", ".WorkContext"))]
