"""An endpoint's refusal as one of our errors, from its HTTP status and what it wrote."""

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from llm.errors import (
    ContextTooLong,
    ModelMisconfigured,
    ModelRateLimited,
    ModelRejected,
    ModelUnavailable,
    ProviderError,
    QuotaUsedUp,
)

TOO_LONG = re.compile(
    r"context[_ ](length|size|window)|maximum context|too many (input )?tokens"
    r"|(prompt|input) (is|too|length).{0,20}(long|exceed)|exceeds? the (max|model|limit).{0,40}token"
    r"|range of input length|上下文|超长|超过.{0,12}长度",
    re.IGNORECASE,
)
NO_CREDIT = re.compile(r"insufficient_(quota|balance)|insufficient balance|arrearage|余额不足|欠费", re.IGNORECASE)
NO_MODEL = re.compile(r"model_not_found|model.{0,80}(not exist|not found)|模型不存在", re.IGNORECASE)
NO_ENTRY = re.compile(r"invalid_?api_?key|incorrect api key", re.IGNORECASE)


def refusal(status: int, said: str, retry_after: float | None = None) -> ProviderError:
    """The error for an HTTP `status` and the text `said` with it, which is looked at and never passed on."""
    if status == 402 or NO_CREDIT.search(said):
        return QuotaUsedUp(status=status)
    if status == 429:
        return ModelRateLimited(status=status, retry_after=retry_after)
    if status >= 500 or status in (408, 409, 425):
        return ModelUnavailable(status=status, retry_after=retry_after)
    if status in (400, 413, 422) and TOO_LONG.search(said):
        return ContextTooLong(status=status)
    if status in (400, 413, 422) and not NO_MODEL.search(said) and not NO_ENTRY.search(said):
        return ModelRejected(status=status)
    return ModelMisconfigured(status=status)


def refusal_in_stream(error: object) -> ProviderError:
    """The error for an `error` object inside a stream, where the status is in its `code` or nowhere."""
    fields: Mapping[str, Any] = error if isinstance(error, Mapping) else {}
    code = fields.get("code")
    said = f"{code} {fields.get('type')} {fields.get('message')}"
    if re.fullmatch(r"[45]\d\d", str(code)):
        return refusal(int(str(code)), said)
    if TOO_LONG.search(said):
        return ContextTooLong()
    return QuotaUsedUp() if NO_CREDIT.search(said) else ModelUnavailable()


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """What `Retry-After` asks for, in seconds or as a date; None when it asks for nothing readable."""
    value = headers.get("retry-after", "").strip()
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
