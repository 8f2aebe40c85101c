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

from profiles.private_matters import is_private
from profiles.reports.evidence import FLOW, METRIC
from profiles.reports.numbers import numbers_in, numbers_of

CITED = re.compile(r"[\[【［]\s*([A-Za-z]\d+(?:\s*[,，、;]?\s*[A-Za-z]\d+)*)\s*[\]】］]")
"""Citations within a text: `[W12]`, `[W12, M3]`."""
REF = re.compile(r"[A-Za-z]\d+")
CLAIM_CHARS = 400
_WORDS = re.IGNORECASE | re.ASCII
"""In ASCII an English word ends where a Chinese character begins: 他是excellent is two words."""
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
            r"\b(?:superior|inferior)\b",
        )
    ),
    _WORDS,
)
_GRADED = re.compile(
    "优秀|卓越|杰出|优异|出色|非凡|出类拔萃|完美|一流|顶尖|极[佳好差]|差劲|糟糕|模范|标兵|典范|楷模|不合格|不称职"
    "|(?:表现|成绩|业绩|能力)(?:十分|非常|相当|很|较)?(?:好|棒|强|差|弱|突出|亮眼)|(?:超出|超过|符合|达到|低于|未达|不及)预期"
    "|评分|打分|得分|满分|绩效(?:等级|评级|为|是)|(?<![A-Za-z])[A-DS][+]?[级等]"
    r"|\b(?:excellent|outstanding|exceptional|brilliant|superb|perfect|world-class|stellar|flawless|exemplary)\w*"
    r"|\b(?:impressive|remarkable|amazing|fantastic|terrific|first-rate|top-notch|unsatisfactory|incompetent|lazy)\b"
    r"|\b(?:score[ds]?|scoring|rating|graded?|five stars|(?:true|real) star|star (?:employee|performer)s?)\b"
    r"|\b(?:exceed(?:s|ed)?|me(?:e?ts?)|below|above) (?:all |the )?expectations\b",
    _WORDS,
)
_DECIDED = re.compile(
    "(?:应|该|须|必须|建议|推荐|值得|宜|予以|给予).{0,8}(?:解雇|辞退|开除|劝退|裁掉|晋升|升职|提拔|降职|调岗|处分|嘉奖|表彰)"
    r"|\b(?:should|must|ought|deserves?|needs?|recommend\w*)\b.{0,40}"
    r"\b(?:fired|sacked|laid off|dismiss\w*|promot\w*|demot\w*|terminat\w*)\b",
    _WORDS,
)
_TOTAL = re.compile(
    "所有|全部|全数|每[一个项件]|一切|无一|从[不未无]|始终|一贯|毫无|没有任何|零(?:失误|逾期|延误|差错)"
    r"|\b(?:everything|nothing|every|all|always|never|none|without (?:any|a single)|not a single)\b",
    _WORDS,
)
_CAN_BE_WHOLE = ("done", "cancelled", "overdue", "completion_rate", "on_time_rate")


class Fault(StrEnum):
    """Why a claim is struck."""

    UNCITED = "uncited"
    UNKNOWN_REF = "unknown_ref"
    UNBACKED_NUMBER = "unbacked_number"
    COMPARED = "compared"
    GRADED = "graded"
    DECIDED = "decided"
    UNBACKED_TOTAL = "unbacked_total"
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
    if _TOTAL.search(bare) and not any(_is_whole(item) for item in cited):
        return Fault.UNBACKED_TOTAL
    return _fault_in(bare)


def _is_whole(item: Mapping[str, Any]) -> bool:
    """Whether a figure says all or none, which no single task can."""
    if item["kind"] != METRIC or item["name"] not in _CAN_BE_WHOLE:
        return False
    return item["value"] in (0, 1 if item["name"].endswith("_rate") else item["n"])


def _fault_in(text: str) -> Fault | None:
    """What is wrong with the words alone."""
    if len(text) > CLAIM_CHARS:
        return Fault.TOO_LONG
    if _COMPARED.search(text):
        return Fault.COMPARED
    if _GRADED.search(text):
        return Fault.GRADED
    if _DECIDED.search(text):
        return Fault.DECIDED
    return Fault.PRIVATE if is_private(text) else None
