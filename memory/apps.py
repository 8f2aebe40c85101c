from django.apps import AppConfig


class MemoryAppConfig(AppConfig):
    """Conversations, what is remembered of them, and how it is found again."""

    name = "memory"
