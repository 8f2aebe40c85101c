"""P7: which claims stand. By code alone: what the evidence does not back is struck, whoever wrote it and why."""

from typing import Any
from zoneinfo import ZoneInfo

import pytest

from llm.types import Completion, Usage
from memory.extraction import Unusable
from profiles.reports.answer import read, standing
from profiles.reports.claims import Fault, claim_of, fault_of
from profiles.reports.evidence import Evidence

ZONE = ZoneInfo("Asia/Shanghai")


def completion(text: str, finish_reason: str = "stop") -> Completion:
    return Completion(text, "", (), Usage(1, 1), finish_reason, "m")


def metric(ref: str, name: str, value: float | None, n: int, part: int | None = None) -> dict[str, Any]:
    return {"ref": ref, "kind": "metric", "name": name, "value": value, "n": n, "part": part}


def task(ref: str, title: str, **facts: Any) -> dict[str, Any]:
    dates = {"given": "2025-10-02T16:30:00Z", "due": "2025-10-20T10:00:00Z", "ended": "2025-10-18T02:00:00Z"}
    return {"ref": ref, "kind": "work", "task_id": int(ref[1:]), "title": title, "status": "done"} | dates | facts


EVIDENCE: Evidence = [
    metric("M1", "assigned", 12, 12),
    metric("M5", "completion_rate", 0.6667, 9, 6),
    metric("M6", "on_time_rate", 1.0, 6, 6),
    metric("M7", "overdue", 0, 3),
    metric("M8", "median_hours", 30.25, 6),
    metric("M9", "mean_hours", None, 0),
    task("W12", "北斗项目 AB-1203 联调"),
    task("W13", "季度报告"),
    {"ref": "P1", "kind": "tag", "of": "style", "value": "注重细节", "count": 3},
    {"ref": "F1", "kind": "flow", "name": "周报", "count": 23},
]
BY_NAME = {item["ref"]: item for item in EVIDENCE}

STANDS = (
    ("按期完成了联调。", ["W12"]),
    ("按期完成了联调 [W12]。", []),
    ("按期完成了联调【W12，M5】。", []),
    ("完成率为 67%，9 个任务中完成 6 个 [M5]。", []),
    ("完成率约 66.7%。", ["M5"]),
    ("九个任务完成了六个 [M5]。", []),
    ("The completion rate is 67 %, six of nine tasks [M5].", []),
    ("中位用时 30.3 小时，约 1.3 天 [M8]。", []),
    ("AB-1203 联调 10月3日交办，18日完成 [W12]。", []),
    ("共接到１２个任务。", ["M1"]),
    ("按期完成了一个联调任务 [W12]。", []),
    ("与同事一起完成了季度报告 [W13]。", []),
    ("Finished the report together with colleagues [W13].", []),
    ("本人确认注重细节 [P1]，联调也按期完成 [W12]。", []),
    ("均值数据不足 [M9]。", []),
    ("最后完成的是季度报告 [W13]。", []),
    ("完成的任务全部按时 [M6]。", []),
    ("Nothing was overdue at the end [M7].", []),
    ("CI/CD等流程的联调按期完成 [W12]。", []),
    ("季度报告按期提交，晋升材料不在其中 [W13]。", []),
    ("借助流程 [F1]，联调按期完成 [W12]。", []),
)
FALLS = (
    ("工作认真。", [], Fault.UNCITED),
    ("工作认真。", [""], Fault.UNCITED),
    ("按期完成了联调。", ["W99"], Fault.UNKNOWN_REF),
    ("按期完成了联调 [W12] [W99]。", ["W12"], Fault.UNKNOWN_REF),
    ("按期完成了联调。", ["W12", "X1"], Fault.UNKNOWN_REF),
    ("按期完成了联调。", ["12"], Fault.UNKNOWN_REF),
    ("按期完成了联调 [12]。", ["W12"], Fault.UNBACKED_NUMBER),
    ("完成率为 90% [M5]。", [], Fault.UNBACKED_NUMBER),
    ("完成了 12 个任务 [M5]。", [], Fault.UNBACKED_NUMBER),
    ("完成了八个任务 [M5]。", [], Fault.UNBACKED_NUMBER),
    ("完成率超过百分之九十 [M5]。", [], Fault.UNBACKED_NUMBER),
    ("完成率达到九成 [M5]。", [], Fault.UNBACKED_NUMBER),
    ("只完成了一半 [M5]。", [], Fault.UNBACKED_NUMBER),
    ("Finished seven tasks [M5].", [], Fault.UNBACKED_NUMBER),
    ("Finished half of the tasks [M5].", [], Fault.UNBACKED_NUMBER),
    ("完成了１５个任务 [M1]。", [], Fault.UNBACKED_NUMBER),
    ("平均用时 20 小时 [M9]。", [], Fault.UNBACKED_NUMBER),
    ("联调在11月完成 [W12]。", [], Fault.UNBACKED_NUMBER),
    ("完成率高于团队平均 [M5]。", [], Fault.COMPARED),
    ("比其他同事完成得更快 [M8]。", [], Fault.COMPARED),
    ("在团队中名列前茅 [M5]。", [], Fault.COMPARED),
    ("完成率排名靠前 [M5]。", [], Fault.COMPARED),
    ("是组里最快的 [M8]。", [], Fault.COMPARED),
    ("完成率全组第一 [M5]。", [], Fault.COMPARED),
    ("Finished faster than colleagues [M8].", [], Fault.COMPARED),
    ("The best completion rate [M5].", [], Fault.COMPARED),
    ("Ranks high in the department [M5].", [], Fault.COMPARED),
    ("Above average completion [M5].", [], Fault.COMPARED),
    ("Outperforms the rest of the team [M5].", [], Fault.COMPARED),
    ("表现优秀 [W12]。", [], Fault.GRADED),
    ("An excellent employee [W12].", [], Fault.GRADED),
    ("绩效等级为 A 级 [M5]。", [], Fault.GRADED),
    ("该员工是excellent的 [W12]。", [], Fault.GRADED),
    ("是team里best的 [W12]。", [], Fault.COMPARED),
    ("He is superior to his colleagues [W12].", [], Fault.COMPARED),
    ("工作表现非常出色 [W12]。", [], Fault.GRADED),
    ("联调的成绩优异 [W12]。", [], Fault.GRADED),
    ("The work exceeded expectations [W12].", [], Fault.GRADED),
    ("A true star [W12].", [], Fault.GRADED),
    ("该员工应立即被解雇 [W12]。", [], Fault.DECIDED),
    ("联调按期完成，建议晋升 [W12]。", [], Fault.DECIDED),
    ("The finished report shows that he should be promoted [W13].", [], Fault.DECIDED),
    ("所有任务都顺利完成 [W12]。", [], Fault.UNBACKED_TOTAL),
    ("任务全部完成 [M5]。", [], Fault.UNBACKED_TOTAL),
    ("工作零失误 [W12]。", [], Fault.UNBACKED_TOTAL),
    ("Everything was delivered without any problem [W12].", [], Fault.UNBACKED_TOTAL),
    ("Always delivers [M1].", [], Fault.UNBACKED_TOTAL),
    ("完成了twenty项任务 [M5]。", [], Fault.UNBACKED_NUMBER),
    ("做完chemo后完成联调 [W12]。", [], Fault.PRIVATE),
    ("经常使用周报流程，工作主动 [F1]。", [], Fault.FLOWS_ALONE),
    ("使用了 23 次 [F1]。", [], Fault.FLOWS_ALONE),
    ("生病期间仍完成联调 [W12]。", [], Fault.PRIVATE),
    ("按期完成了联调。" * 60, ["W12"], Fault.TOO_LONG),
)


@pytest.mark.parametrize(("text", "refs"), STANDS)
def test_a_claim_stands_that_its_evidence_backs(text: str, refs: list[str]) -> None:
    assert fault_of(claim_of(text, refs), BY_NAME, ZONE) is None


@pytest.mark.parametrize(("text", "refs", "fault"), FALLS)
def test_a_claim_falls_that_its_evidence_does_not_back(text: str, refs: list[str], fault: Fault) -> None:
    assert fault_of(claim_of(text, [ref for ref in refs if ref]), BY_NAME, ZONE) is fault


@pytest.mark.parametrize(
    "answer",
    [
        '{"claims": [{"text": "按期完成。", "refs": ["W12"]}]}',
        '```json\n{"claims": [{"text": "按期完成。", "refs": ["W12"]},]}\n```',
        '<think>嗯</think>好的：{"claims": [{"text": "按期完成。", "refs": "[w12]"}, 7, {"text": ""}]}',
        '{"claims": [{"text": "按期完成。", "refs": ["W12", "W12"]}], "score": 5}',
    ],
)
def test_an_answer_is_read_tolerantly(answer: str) -> None:
    (claim,) = read(completion(answer), most=8)
    assert (claim.text, claim.refs) == ("按期完成。", ("W12",))


@pytest.mark.parametrize("answer", ["", "我不知道", '{"report": "好"}'])
def test_an_answer_without_shape_is_unusable(answer: str) -> None:
    with pytest.raises(Unusable):
        read(completion(answer), most=8)


def test_one_that_was_cut_short_is_unusable() -> None:
    with pytest.raises(Unusable, match="cut_short"):
        read(completion('{"claims": [{"text": "按', finish_reason="length"), most=8)


def test_those_that_fall_leave_the_others_standing_and_keys_are_redacted() -> None:
    said = '{"claims": [{"text": "按期完成。", "refs": ["W12"]}, {"text": "最好。", "refs": ["W12"]}, "没有根据"]}'
    claims = read(completion(said), most=8)
    assert len(claims) == 3
    assert [claim.text for claim in standing(claims, EVIDENCE, ZONE)] == ["按期完成。"]
    leaked = '{"claims": [{"text": "口令是 sk-abcdefghij0123456789abcd", "refs": ["W12"]}]}'
    assert "sk-abc" not in read(completion(leaked), most=8)[0].text
