from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class LlmAppConfig(AppConfig):
    """Language models: which there are, and asking them."""

    name = "llm"
    verbose_name = _("Models")

    def ready(self) -> None:
        from llm import checks  # noqa: F401  # registers the check
