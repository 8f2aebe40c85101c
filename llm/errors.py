"""What can go wrong with a model. Each class has a `code`, a sentence with the remedy, and two answers.

`permanent`: asking again later cannot help before somebody changes something. `retryable`: asking again at
once may help. No error carries a key, a prompt or what the endpoint wrote.
"""

from typing import ClassVar

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class ProviderError(Exception):
    """A model gave no answer. `status` is the HTTP status, `retry_after` the seconds that were asked for."""

    code: ClassVar[str]
    detail: ClassVar[str | Promise]
    permanent: ClassVar[bool] = False
    retryable: ClassVar[bool] = False

    def __init__(self, *, status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(self.code if status is None else f"{self.code} (HTTP {status})")
        self.status = status
        self.retry_after = retry_after


class ModelUnavailable(ProviderError):
    """No connection, a server error, or a connection that broke off."""

    code = "model_unavailable"
    detail = _("The model cannot be reached or failed. Try again in a moment; if it lasts, tell an administrator.")
    retryable = True


class ModelTimeout(ProviderError):
    """A deadline passed: no first piece, a pause in the middle, or too long as a whole."""

    code = "model_timeout"
    detail = _("The model took too long. Try again, or ask a shorter question.")


class ModelRateLimited(ProviderError):
    code = "model_rate_limited"
    detail = _("The model is busy: too many requests at once. Try again in a minute.")
    retryable = True


class QuotaUsedUp(ModelRateLimited):
    """The account behind the key has no credit left: waiting a moment does not help."""

    detail = _("The model's account has no credit left. Ask an administrator to top it up, or choose another model.")
    retryable = False


class ModelRejected(ProviderError):
    """The endpoint refused this request, or a content filter withheld the answer."""

    code = "model_rejected"
    detail = _("The model refused this request. Put it in other words, or choose another model.")
    permanent = True


class ModelMisconfigured(ProviderError):
    """Wrong address, key or model name."""

    code = "model_misconfigured"
    detail = _("The model is not set up correctly. An administrator should check its address, key and model name.")
    permanent = True


class ContextTooLong(ProviderError):
    code = "context_too_long"
    detail = _("This is too long for the model. Shorten the message, or start a new conversation.")
    permanent = True


class ModelEmpty(ProviderError):
    """The endpoint answered with no text and no tool call."""

    code = "model_empty"
    detail = _("The model answered nothing. Try again, or put the question in other words.")
    retryable = True


class ThinkingUsedUpTheAnswer(ModelEmpty):
    """The whole output limit went into thinking, so that asking again the same way gives the same."""

    detail = _(
        "The model used its whole limit for thinking and came to no answer. "
        "Ask again with thinking off, or have an administrator raise the model's output limit."
    )
    retryable = False


class EmbeddingMismatch(ProviderError):
    """The endpoint gave another number of vectors than it was asked for, other dimensions, or no vectors."""

    code = "embedding_mismatch"
    detail = _(
        "The embedding model answered with other vectors than expected. "
        "An administrator should check its address and name; another model needs all texts embedded anew."
    )
    permanent = True
