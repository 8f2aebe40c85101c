"""Logging: one line of JSON an event in production, a readable line in development.

Every line of a request carries its `request_id` and `user_id` (django-structlog), every line of a turn its
`turn_id`. Texts of users, prompts and keys are never passed to a logger.
"""

import logging.config
from typing import Any

import structlog

SHARED: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]


def logging_config(*, json: bool, level: str) -> dict[str, Any]:
    """The value of `LOGGING`: standard library and structlog records through one renderer."""
    renderer = (
        structlog.processors.JSONRenderer()
        if json
        else structlog.dev.ConsoleRenderer(
            colors=False,
            exception_formatter=structlog.dev.plain_traceback,  # the default prints variables: what people said
        )
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": SHARED,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    *([structlog.processors.format_exc_info] if json else []),
                    renderer,
                ],
            }
        },
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            "django": {"handlers": [], "level": "INFO", "propagate": True},
            "django.request": {"level": "ERROR"},  # a refused request is in its own line already
            # One line a request is enough; the client libraries would add one of their own.
            "httpx2": {"level": "WARNING"},
            "httpcore2": {"level": "WARNING"},
            "openai": {"level": "WARNING"},
            "axes": {"level": "WARNING"},
            # It writes a traceback a second while Redis is away, which our own lines and /readyz say once.
            "channels_redis": {"level": "CRITICAL"},
            "uvicorn.access": {"level": "WARNING"},
            "django_structlog": {"level": "WARNING" if not json else level},
        },
    }


def configure(config: dict[str, Any]) -> None:
    """`LOGGING_CONFIG`: sets up the standard library, then structlog on top of it."""
    logging.config.dictConfig(config)
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED,
            structlog.processors.UnicodeDecoder(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
