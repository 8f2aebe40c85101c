"""System checks of the model settings."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Warning, register

from llm.embedders import NO_EMBEDDER


@register
def check_model_is_named(**_: Any) -> list[CheckMessage]:
    """A key or an address without a model would leave the demo model answering, and nobody would know why."""
    if settings.LLM_MODEL or not (settings.LLM_API_KEY or settings.LLM_BASE_URL):
        return []
    return [
        Warning(
            "LLM_API_KEY or LLM_BASE_URL is set, but LLM_MODEL is not: the built-in demo model answers.",
            hint="Set LLM_MODEL to a name that the endpoint knows.",
            id="llm.W001",
        )
    ]


@register
def check_embedder_is_whole(**_: Any) -> list[CheckMessage]:
    """Half of the settings would leave the local embedder in use, and nobody would know why."""
    named = settings.EMBEDDING_MODEL not in ("", NO_EMBEDDER)
    if settings.EMBEDDING_MODEL == NO_EMBEDDER or named == bool(
        settings.EMBEDDING_BASE_URL or settings.EMBEDDING_API_KEY
    ):
        return []
    return [
        Warning(
            "EMBEDDING_MODEL is set without an address or a key, or the other way round: the local embedder is used.",
            hint="Set EMBEDDING_MODEL, and EMBEDDING_BASE_URL or EMBEDDING_API_KEY; or none of them.",
            id="llm.W002",
        )
    ]
