"""Model profiles that administrators keep in the database."""

from typing import Any, Self, cast
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from llm import secrets
from llm.errors import ModelMisconfigured
from llm.profile import OPENAI_BASE_URL, OutputLimitField, Profile, ReplayPolicy, ThinkingKey


class OutputLimit(models.TextChoices):
    MAX_TOKENS = "max_tokens", "max_tokens"
    MAX_COMPLETION_TOKENS = "max_completion_tokens", "max_completion_tokens"


class Thinking(models.TextChoices):
    NONE = "", _("has no switch")
    ENABLE_THINKING = "enable_thinking", "enable_thinking (Qwen)"
    CHAT_TEMPLATE = "chat_template_kwargs", "chat_template_kwargs.enable_thinking (vLLM, SGLang)"
    THINKING_TYPE = "thinking", "thinking.type (GLM, Kimi, Doubao, DeepSeek)"


class ReasoningReplay(models.TextChoices):
    NEVER = "never", _("never")
    WITH_TOOLS = "with_tools", _("with tool calls only")
    ALWAYS = "always", _("always")


def validate_address(value: str) -> None:
    """An http or https address with a host; names without a dot are fine, as in a container network."""
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise ValidationError(_("Give an address such as https://api.example.com/v1."), code="bad_address")


class ProviderProfileQuerySet(models.QuerySet["ProviderProfile"]):
    def resolve(self, name: str | None) -> Profile | None:
        """The enabled profile of that name, else the enabled default, with its fallbacks; None without both.

        One query for the whole chain: there are never more than a handful of rows.
        """
        rows = {row.pk: row for row in self.filter(enabled=True)}
        named = next((row for row in rows.values() if row.name == name), None)
        chosen = named or next((row for row in rows.values() if row.is_default), None)
        return chosen.as_profile(rows) if chosen else None


class ProviderProfile(models.Model):
    """One model behind one address. Its key is stored encrypted and never shown again."""

    name = models.CharField(_("name"), max_length=80, unique=True)
    base_url = models.CharField(
        _("address"),
        max_length=300,
        default=OPENAI_BASE_URL,
        validators=[validate_address],
        help_text=_("Of an OpenAI-compatible API; it usually ends in /v1."),
    )
    encrypted_api_key = models.TextField(blank=True, editable=False)
    model = models.CharField(_("model"), max_length=200, help_text=_("As the endpoint calls it."))
    context_tokens = models.PositiveIntegerField(
        _("context size"),
        default=32_768,
        validators=[MinValueValidator(1_024)],
        help_text=_("Tokens that prompt and answer may take together."),
    )
    max_output_tokens = models.PositiveIntegerField(
        _("output limit"),
        default=4_096,
        validators=[MinValueValidator(16)],
        help_text=_("Tokens that one answer may take, thinking included."),
    )
    output_limit_field = models.CharField(
        _("name of the output limit"), max_length=30, choices=OutputLimit, default=OutputLimit.MAX_TOKENS
    )
    thinking_key = models.CharField(
        _("thinking switch"), max_length=30, choices=Thinking, default=Thinking.NONE, blank=True
    )
    reasoning_replay = models.CharField(
        _("send thinking back"), max_length=20, choices=ReasoningReplay, default=ReasoningReplay.NEVER
    )
    extra_body = models.JSONField(
        _("extra fields"), default=dict, blank=True, help_text=_("A JSON object, added to every request.")
    )
    fallback = models.ForeignKey(
        "self",
        models.SET_NULL,
        null=True,
        blank=True,
        verbose_name=_("fallback"),
        help_text=_("Answers when this model cannot begin to."),
    )
    is_default = models.BooleanField(_("default"), default=False)
    enabled = models.BooleanField(_("enabled"), default=True)

    objects = ProviderProfileQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        verbose_name = _("model profile")
        verbose_name_plural = _("model profiles")
        constraints = (
            models.UniqueConstraint(
                fields=("is_default",), condition=models.Q(is_default=True), name="one_default_profile"
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def has_api_key(self) -> bool:
        return bool(self.encrypted_api_key)

    def set_api_key(self, api_key: str) -> None:
        """Replaces the stored key; the empty text removes it. Not saved yet."""
        self.encrypted_api_key = secrets.encrypt(api_key.strip())

    def clean(self) -> None:
        if not isinstance(self.extra_body, dict):
            raise ValidationError({"extra_body": _("Give a JSON object, such as {}.")})
        if self.max_output_tokens >= self.context_tokens:
            raise ValidationError({"max_output_tokens": _("The output limit must be smaller than the context size.")})
        if self._falls_back_in_a_circle():
            raise ValidationError({"fallback": _("This fallback leads back to the profile itself.")})

    def as_profile(self, enabled: dict[Any, Self]) -> Profile:
        """The value that providers work with; fallbacks are looked up in `enabled`, rows by primary key.

        Raises ModelMisconfigured when a stored key cannot be decrypted any more.
        """
        others = {pk: row for pk, row in enabled.items() if pk != self.pk}  # a circle ends here
        fallback = others.get(self.fallback_id)
        return Profile(
            name=self.name,
            base_url=self.base_url,
            api_key=self._api_key(),
            model=self.model,
            context_tokens=self.context_tokens,
            max_output_tokens=self.max_output_tokens,
            output_limit_field=cast(OutputLimitField, self.output_limit_field),
            thinking_key=cast(ThinkingKey, self.thinking_key),
            reasoning_replay=cast(ReplayPolicy, self.reasoning_replay),
            extra_body=self.extra_body,
            fallback=fallback.as_profile(others) if fallback else None,
        )

    def _api_key(self) -> str:
        try:
            return secrets.decrypt(self.encrypted_api_key)
        except secrets.Unreadable:
            raise ModelMisconfigured from None

    def _falls_back_in_a_circle(self) -> bool:
        seen, profile = {self.pk}, self.fallback
        while profile is not None:
            if profile.pk in seen:
                return True
            seen.add(profile.pk)
            profile = profile.fallback
        return False
