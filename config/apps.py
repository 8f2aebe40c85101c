from django.apps import AppConfig


class ConfigAppConfig(AppConfig):
    """Holds the system checks and the commands that concern the installation as a whole."""

    name = "config"

    def ready(self) -> None:
        from config import checks  # noqa: F401  # registers the checks
        from config.erasing import held
        from memory.signals import exporting

        exporting.connect(held, weak=False, dispatch_uid="config.export")
