from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class LlmAppConfig(AppConfig):
    """Language models: which there are, and asking them."""

    name = "llm"
    verbose_name = _("Models")

    def ready(self) -> None:
        from django.db.models.signals import post_delete, post_save

        from llm import checks  # noqa: F401  # registers the check
        from llm.models import ProviderProfile
        from llm.profile import forget_recent

        for changed in (post_save, post_delete):
            changed.connect(forget_recent, sender=ProviderProfile, dispatch_uid="llm.profile")
