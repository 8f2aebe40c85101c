from django.apps import AppConfig


class MemoryAppConfig(AppConfig):
    """Conversations, what is remembered of them, and how it is found again."""

    name = "memory"

    def ready(self) -> None:
        """How far indexing lags behind is looked up whenever Prometheus asks."""
        from memory import indexing, telemetry

        telemetry.LAG.set_function(indexing.lag)
