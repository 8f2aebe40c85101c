"""Reading what a model wrote of a report, tolerantly, and keeping what its evidence backs."""

import re
from collections.abc import Sequence
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from llm.loose_json import object_in
from llm.types import Completion
from memory.extraction import Unusable
from memory.redaction import redact
from profiles.reports.claims import Claim, claim_of, fault_of
from profiles.reports.evidence import Evidence

_APART = re.compile(r"[\s,，、;；\[\]【】()（）\"']+")


def _refs(value: Any) -> Any:
    """Names of evidence, however they are written: `["W12"]`, `"[W12], M3"`. What is no name stays, to be found out."""
    parts = value if isinstance(value, list) else [value]
    return [name for part in parts if part is not None for name in _APART.split(str(part)) if name]


def _claims(value: Any) -> Any:
    """A sentence alone is a claim without evidence; what has another shape is left out, the rest is not."""
    parts = value if isinstance(value, list) else []
    shaped = [{"text": part} if isinstance(part, str) else part for part in parts]
    return [part for part in shaped if isinstance(part, dict) and str(part.get("text") or "").strip()]


class _Claim(BaseModel):
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)

    text: str
    refs: Annotated[list[str], BeforeValidator(_refs)] = []


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")

    claims: Annotated[list[_Claim], BeforeValidator(_claims)]


def read(completion: Completion, *, most: int) -> list[Claim]:
    """The claims of an answer, at most so many. Raises Unusable."""
    if completion.finish_reason == "length":
        raise Unusable("cut_short")
    found = object_in(completion.text)
    if found is None:
        raise Unusable("no_json")
    try:
        answer = _Answer.model_validate(found)
    except ValidationError as error:
        raise Unusable("wrong_shape") from error
    return [claim_of(redact(claim.text), claim.refs) for claim in answer.claims][:most]


def standing(claims: Sequence[Claim], evidence: Evidence, zone: ZoneInfo) -> tuple[Claim, ...]:
    """The claims that no rule strikes."""
    by_name = {item["ref"]: item for item in evidence}
    return tuple(claim for claim in claims if fault_of(claim, by_name, zone) is None)
