"""Which claims of a narrative stand: those that cite evidence, and say no more than it does. The rest is struck.

By rules alone, whatever the model was told to write and by whom. They go by words, and would rather strike a claim that
could have stood than let one through that may not.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

from profiles.evidence import FLOW
from profiles.private_matters import is_private
from profiles.report_numbers import numbers_in, numbers_of

CITED = re.compile(r"[\[【［]\s*([A-Za-z]\d+(?:\s*[,，、;]?\s*[A-Za-z]\d+)*)\s*[\]】］]")
"""Citations within a text: `[W12]`, `[W12, M3]`."""
REF = re.compile(r"[A-Za-z]\d+")
CLAIM_CHARS = 400
_REST = "(?:其他|其余|别的|所有|大多数|多数)的?"
_THEY = (
    f"(?:{_REST}人|(?:{_REST})?"
    "(?:同事|同伴|同侪|同级|同组|同岗|成员|他人|别人|旁人|大家|众人|团队|全组|组内|组里|部门|全员|平均))"
)
_OTHERS = r"(?:peers?|colleagues?|others?|team\w*|average|everyone|anyone|co-?workers?)"
_MORE = "(?:better|worse|faster|slower|more|less|fewer|higher|lower|stronger|weaker|ahead|behind)"
_COMPARED = re.compile(
    "|".join(
        (
            "排名|排行|名次|名列|位列|位居|居首|榜首|数一数二|首屈一指|佼佼者|领先|垫底|倒数|前百分之|百分位|平均水平|无人能及|无与伦比",
            r"前\s*\d+\s*%|第\s*[一二三四五六七八九十\d]+(?:名|位|(?=\s*(?:[。，,、!]|$)))",
            f"(?:优于|高于|低于|快于|慢于|多于|少于|好于|差于|强于|弱于|超过|超越|胜过|不如|不及|落后于?|相较|相对){_THEY}",
            f"(?:比|较|与|和|同){_THEY}.{{0,12}}?(?:相比|更|高|低|快|慢|多|少|好|差|强|弱|优|劣|出色)",
            f"{_THEY}(?:中|里|之中|当中|内)?最|最(?:好|佳|差|快|慢|强|弱|优秀|出色|高效|可靠|努力|勤奋)",
            r"\brank(?:s|ed|ing|ings)?\b|\bpercentiles?\b|\b(?:out|under)perform\w*|\bsurpass\w*|\boutsh[io]n\w*",
            r"\btop[- ](?:performer|\d+)|\bsecond to none\b|\bnumber one\b|\bunrivall?ed\b|\bunmatched\b",
            r"\b(?:best|worst|fastest|slowest|strongest|weakest)\b",
            r"\b(?:above|below|over|under)[- ](?:the\s+)?(?:team\s+)?average\b|\baverage (?:employee|performer)\b",
            rf"\b(?:compared|relative|in comparison|next) (?:to|with)\b.{{0,20}}\b{_OTHERS}\b",
            rf"\b{_MORE}\b.{{0,30}}\b(?:than|of)\b.{{0,20}}\b{_OTHERS}\b",
        )
    ),
    re.IGNORECASE,
)
_GRADED = re.compile(
    "优秀|卓越|杰出|出类拔萃|完美|一流|顶尖|极佳|评分|打分|得分|满分|绩效(?:等级|评级|为|是)|[A-DS][+]?[级等]"
    r"|\b(?:excellent|outstanding|exceptional|brilliant|superb|perfect|world-class|stellar|flawless)\w*"
    r"|\b(?:score[ds]?|scoring|rating|graded?|five stars)\b",
    re.IGNORECASE,
)


class Fault(StrEnum):
    """Why a claim is struck."""

    UNCITED = "uncited"
    UNKNOWN_REF = "unknown_ref"
    UNBACKED_NUMBER = "unbacked_number"
    COMPARED = "compared"
    GRADED = "graded"
    FLOWS_ALONE = "flows_alone"
    PRIVATE = "private"
    TOO_LONG = "too_long"


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence and the names of the evidence that it cites, those within its text first."""

    text: str
    refs: tuple[str, ...]


def claim_of(text: str, refs: Sequence[str]) -> Claim:
    """A claim whose refs are those in its text and those beside it, each once."""
    inside = [ref.upper() for cited in CITED.findall(text) for ref in REF.findall(cited)]
    return Claim(" ".join(text.split()), tuple(dict.fromkeys([*inside, *(ref.upper() for ref in refs)])))


def fault_of(claim: Claim, evidence: Mapping[str, dict[str, Any]], zone: ZoneInfo) -> Fault | None:
    """Why the claim cannot stand, or None. `evidence` is by its names."""
    if not claim.refs:
        return Fault.UNCITED
    if not evidence.keys() >= set(claim.refs):
        return Fault.UNKNOWN_REF
    cited = [evidence[ref] for ref in claim.refs]
    if all(item["kind"] == FLOW for item in cited):
        return Fault.FLOWS_ALONE
    bare = unicodedata.normalize("NFKC", CITED.sub(" ", claim.text))
    if not numbers_in(bare) <= {held for item in cited for held in numbers_of(item, zone)}:
        return Fault.UNBACKED_NUMBER
    return _fault_in(bare)


def _fault_in(text: str) -> Fault | None:
    """What is wrong with the words alone."""
    if len(text) > CLAIM_CHARS:
        return Fault.TOO_LONG
    if _COMPARED.search(text):
        return Fault.COMPARED
    if _GRADED.search(text):
        return Fault.GRADED
    return Fault.PRIVATE if is_private(text) else None
