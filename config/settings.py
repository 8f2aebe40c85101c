"""Django settings. Everything that differs between installations comes from the environment, read by `config.env`."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from csp.constants import NONCE, NONE, SELF
from redis.backoff import NoBackoff
from redis.retry import Retry

from config import admin_skin, env
from config.beat import SCHEDULE
from config.logs import logging_config
from config.memory_defaults import *  # noqa: F403  # each name there is a setting
from config.memory_defaults import RECALL_THREADS
from config.model_settings import *  # noqa: F403  # each name there is a setting

BASE_DIR = Path(__file__).resolve().parent.parent

# --- Who and where -----------------------------------------------------------------------------------------

DEBUG = env.flag("DEBUG", default=False)
SECRET_KEY = env.secret("SECRET_KEY", debug_default="only-for-development")
SECRET_KEY_FALLBACKS = env.words("SECRET_KEY_FALLBACKS")
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", default=("localhost", "127.0.0.1", "[::1]") if DEBUG else ())
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "unfold.apps.BasicAppConfig",  # before the admin, whose templates it replaces
    "config.admin_app.TacitAdmin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "channels",
    "rest_framework",
    "knox",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "drf_standardized_errors",
    "axes",
    "csp",
    "django_structlog",
    "llm",
    "memory",
    "profiles",
    "flows",
    "config",
]

MIDDLEWARE = [
    "config.health.ProbeMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "config.csp.PolicyMiddleware",
    "config.privacy.PrivateMiddleware",
    "config.request_lines.RequestLines",
    "profiles.middleware.PreferencesMiddleware",
    "config.errors.PlainNotFoundMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ]
        },
    }
]

# --- Stores --------------------------------------------------------------------------------------------------

DATABASE_THREADS = env.number("DATABASE_THREADS", default=16)
"""Threads that turn work may use at once, and connections in the pool of one process."""


def _database(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": parts.hostname or "",
        "PORT": parts.port or "",
        "OPTIONS": {
            **dict(parse_qsl(parts.query)),  # such as sslmode=require
            "pool": {"min_size": 1, "max_size": DATABASE_THREADS + RECALL_THREADS, "timeout": 5},
        },
    }


DATABASES = {"default": _database(env.secret("DATABASE_URL", debug_default="postgresql://localhost/tacit"))}

REDIS_URL = env.secret("REDIS_URL", debug_default="redis://localhost:6379/0")
MEMORY_REDIS_URL = env.secret("MEMORY_REDIS_URL", required=False) or REDIS_URL
CHANNEL_URL = env.secret("CHANNEL_URL", required=False) or REDIS_URL
REDIS_FAST_FAIL: dict[str, Any] = {
    # redis-py 8 would retry for 4 s when the server is gone; a turn must not wait for that.
    "socket_connect_timeout": 0.2,
    "socket_timeout": 0.5,
    "retry": Retry(NoBackoff(), 0),
}


def _redis_cache(url: str) -> dict[str, Any]:
    return {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": url,
        "KEY_PREFIX": "tacit:cache",
        "OPTIONS": {"CONNECTION_POOL_KWARGS": REDIS_FAST_FAIL, "IGNORE_EXCEPTIONS": True},
    }


CACHES = {"default": _redis_cache(REDIS_URL), "memory": _redis_cache(MEMORY_REDIS_URL)}
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        # Without a read timeout: redis-py 8 would end an idle subscription after 5 s.
        "CONFIG": {
            "hosts": [{"address": CHANNEL_URL, "socket_timeout": None}],
            "prefix": env.text("CHANNEL_PREFIX", default="tacit:channel"),
        },
    }
}

# --- Jobs ----------------------------------------------------------------------------------------------------

CELERY_BROKER_URL = env.secret("BROKER_URL", required=False) or REDIS_URL
CELERY_BROKER_TRANSPORT_OPTIONS = {"global_keyprefix": "tacit:celery:"}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_SERIALIZER = "json"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_ROUTES = {"memory.*": {"queue": "memory"}, "profiles.*": {"queue": "people"}}
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = SCHEDULE

# --- Admin ---------------------------------------------------------------------------------------------------

UNFOLD = admin_skin.OPTIONS

# --- Login and safety ----------------------------------------------------------------------------------------

LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "catalogue"
LOGOUT_REDIRECT_URL = "login"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("MinimumLengthValidator", "CommonPasswordValidator", "NumericPasswordValidator")
]
AXES_FAILURE_LIMIT = env.number("LOGIN_FAILURE_LIMIT", default=8)
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_TEMPLATE = "registration/locked.html"
AXES_HTTP_RESPONSE_CODE = 429
AXES_RESET_ON_SUCCESS = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
AXES_CLIENT_IP_CALLABLE = "config.lock_out.address"
TRUSTED_PROXIES = env.number("TRUSTED_PROXIES", default=0)

SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.flag("HTTPS", default=not DEBUG)
SECURE_HSTS_SECONDS = 31_536_000 if SESSION_COOKIE_SECURE else 0
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if TRUSTED_PROXIES:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "manifest-src": [SELF],
    }
}

# The largest body is one long message; uploads get their own limit where they are taken.
DATA_UPLOAD_MAX_MEMORY_SIZE = 4 * 1024 * 1024

# --- REST ----------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "config.authentication.KeyAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["config.parsers.ShallowJSONParser"],
    "DEFAULT_PAGINATION_CLASS": "config.pagination.CursorPages",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.UserRateThrottle"],
    "NUM_PROXIES": TRUSTED_PROXIES,
    "DEFAULT_THROTTLE_RATES": {
        "user": env.text("THROTTLE_USER", default="3000/min"),
        "turns": env.text("THROTTLE_TURNS", default="1200/min"),
        "login": env.text("THROTTLE_LOGIN", default="30/min"),
    },
    "DEFAULT_SCHEMA_CLASS": "drf_standardized_errors.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "drf_standardized_errors.handler.exception_handler",
    "URL_FORMAT_OVERRIDE": None,  # ?format= is a query parameter like any other: refused where it is not known
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
DRF_STANDARDIZED_ERRORS = {
    "EXCEPTION_HANDLER_CLASS": "config.errors.Handler",
    "EXCEPTION_FORMATTER_CLASS": "config.errors.Formatter",
    "ENABLE_IN_DEBUG_FOR_UNHANDLED_EXCEPTIONS": True,
    # In the schema of every operation that can answer with them; a view names what it adds.
    "ALLOWED_ERROR_STATUS_CODES": [400, 401, 403, 404, 406, 415, 429, 503],
    "ERROR_SCHEMAS": dict.fromkeys(["400", "401", "403", "404", "406", "415", "429", "503"], "memory.fields.Error"),
}
REST_KNOX = {"TOKEN_TTL": None, "AUTO_REFRESH": False, "TOKEN_LIMIT_PER_USER": 50}
API_TOKEN_DAYS = env.number("API_TOKEN_DAYS", default=90)
SPECTACULAR_SETTINGS = {
    "TITLE": "Tacit",
    "DESCRIPTION": "Flows that remember the person they talk to.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "SCHEMA_PATH_PREFIX": "/api",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "ENUM_NAME_OVERRIDES": {
        "ActionStatus": "flows.models.ActionStatus",
        "ReportStatus": "profiles.models.ReportStatus",
        "TagStatus": "profiles.models.TagStatus",
        "WorkStatus": "profiles.models.work.WorkStatus",
        "TurnStatus": "memory.models.conversation.TurnStatus",
    },
}

# --- Language, time, static files ----------------------------------------------------------------------------

LANGUAGE_CODE = "zh-hans"
LANGUAGES = [("zh-hans", "简体中文"), ("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = "UTC"  # what programs get; pages show each person's own zone
USE_TZ = True
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = BASE_DIR / "staticfiles"
WHITENOISE_USE_FINDERS = DEBUG
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage" if DEBUG else "config.static.ManifestStorage"
    },
}

# --- Turns and memory ----------------------------------------------------------------------------------------

FLOW_PLUGINS = [
    "flows.plugins.session_memory.SessionMemory",
    "flows.plugins.query_rewrite.QueryRewrite",
    "flows.plugins.long_term_memory.LongTermMemory",
    "flows.plugins.portrait.Portrait",
    "flows.plugins.work_context.WorkContext",
    "flows.plugins.remember.Remember",
    "flows.plugins.profile_facts.ProfileFacts",
]
"""The middleware of every turn, in order, as dotted classes; see docs/memory.md."""

TURN_INPUT_CHARS = 200_000
TURN_LEASE_SECONDS = 15
"""A turn whose process has not renewed it for this long is interrupted by whoever notices first."""
EVENT_REPLAY_SECONDS = 900
ACTION_EXPIRE_HOURS = env.number("ACTION_EXPIRE_HOURS", default=72.0, at_least=0.0)
"""How long a confirm card can be answered."""
DRAIN_SECONDS = env.number("DRAIN_SECONDS", default=120)

# --- Logs ----------------------------------------------------------------------------------------------------

LOGGING = logging_config(json=not DEBUG, level=env.text("LOG_LEVEL", default="INFO"))
LOGGING_CONFIG = "config.logs.configure"
DJANGO_STRUCTLOG_CELERY_ENABLED = True
DJANGO_STRUCTLOG_USER_ID_FIELD = "pk"
