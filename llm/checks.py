"""System checks of the model settings."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Warning, register


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
