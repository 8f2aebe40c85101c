"""Believable conversations for the memory bench: Chinese and English, short questions, answers of some length."""

import random
from uuid import UUID

from django.contrib.auth.models import User

from memory.manager import MemoryManager
from memory.models import Conversation, TurnStatus
from memory.turns import OpenedTurn, Outcome, TurnRequest

FLOW_ID = 1
QUESTIONS = (
    "项目 A 的接口什么时候能联调？",
    "帮我把这周要做的三件事排个先后。",
    "客户问能不能提前到周三上线，怎么回复比较稳妥？",
    "上次评审里提到的风险还有哪些没有关闭？",
    "AB-1203 这张单子现在是谁在跟，卡在哪里？",
    "Please draft a short note to the customer about the delay.",
    "What did we decide about the database migration last week?",
    "Summarise the three open points and who owns them.",
)
SENTENCES = (
    "接口文档已经在周一更新，联调环境还缺一个测试账号，王小明答应今天下班前补上。",
    "先处理影响上线的两项：支付回调的重试，以及报表里时区不一致的问题。",
    "预算方面，采购部只批了七成，剩下的三成要等十二月的评审会再定。",
    "- **李娜**：核对清单，周四之前发给客户\n- **陈晓**：修复登录页在手机上的错位",
    "如果周三上线，回归测试就只剩一天，建议把导出功能推迟到下一个版本。",
    "这张单子卡在第三方的证书上，对方说最晚后天给，可以先用旧证书把流程跑通。",
    "The migration runs in two steps: first the new columns, then the backfill in batches of ten thousand rows.",
    "I would tell the customer plainly that the delay is two days and that nothing they already use is affected.",
    "1. Confirm the rollback plan\n2. Freeze changes on Thursday noon\n3. Send the notice to all three regions",
    "Open points: the certificate (owner: ops), the budget (owner: purchasing), the test account (owner: Wang).",
)
USAGE = {"prompt_tokens": 2_731, "completion_tokens": 412}
MEMORY_USED = {
    **{"turns": [], "episodes": [], "passages": [], "missing": []},
    "budget": {"limit": 32_768, "reserve": 4_096, "system": 64, "window": 2_568, "words": 31, "dropped_messages": 0},
}


class Sessions:
    """Sessions of one person who exists for the bench alone."""

    def __init__(self, user: User, *, count: int, messages: int) -> None:
        self.user, self._manager = user, MemoryManager()
        self._chance = random.Random(7)  # noqa: S311  # the same conversations in every run
        self.conversations = [self._talk(messages // 2) for _ in range(count)]

    def words(self) -> str:
        """A question."""
        return " ".join(self._chance.sample(QUESTIONS, self._chance.randint(1, 2)))

    def open(self, session_id: UUID | None = None) -> OpenedTurn:
        """A turn with a question, in a session or a new one."""
        request = TurnRequest(
            flow_id=FLOW_ID, flow_name="通用助手", flow_version=1, input=self.words(), session_id=session_id
        )
        return self._manager.open_turn(self.user, request)

    def outcome(self) -> Outcome:
        """An answer to it."""
        text = "\n\n".join(self._chance.choices(SENTENCES, k=self._chance.randint(3, 10)))
        return Outcome(status=TurnStatus.COMPLETE, output=text, usage=USAGE, memory_used=MEMORY_USED)

    def _talk(self, turns: int) -> Conversation:
        opened = self.open()
        for number in range(turns):
            opened = self.open(opened.conversation.pk) if number else opened
            self._manager.record_exchange(
                self.user, conversation=opened.conversation, turn=opened.turn, outcome=self.outcome()
            )
        return opened.conversation
