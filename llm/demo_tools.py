"""Which tool the demo model calls, and what it says of the result: only where the words plainly ask for one."""

import re
from collections.abc import Mapping, Sequence

import orjson

from llm.demo_sentences import Sentences
from llm.types import Message, ToolCall, ToolSpec

ASSIGN = re.compile(
    r"给.{1,20}?(?:派|安排|布置|分配).{0,4}(?:任务|工作|活)|派.{0,4}任务给"
    r"|\b(?:assign|give)\b.{1,40}\b(?:a|the|this) (?:new )?task\b|\bassign (?:a|the|this) task to\b",
    re.I,
)
FIND = re.compile(
    r"(?:查找?|找)(?:一下)?(?:同事|下属)\s*(?P<name>[^\s,，。？?]{1,20})"
    r"|\bfind (?:my )?colleague (?P<en>[\w .'-]{1,40})",
    re.I,
)
SEARCH = re.compile(r"(?:搜索?|查)(?:一下)?(?:我的)?记忆|\bsearch (?:my )?memory\b", re.I)
RESULT = re.compile(r"\A<<<data\n\[\w+\]\n(?P<text>.*?)\ndata>>>", re.DOTALL)


def call_for(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ToolCall | None:
    """The call that the last message asks for; None behind a result, and for words that ask for nothing."""
    if not tools or messages[-1].role != "user":
        return None
    words = messages[-1].content.rpartition("\ndata>>>\n\n")[2].strip()
    offered = {tool.name for tool in tools}
    found = next(((name, given) for name, given in _asked(words) if name in offered), None)
    return found and ToolCall("call_1", found[0], orjson.dumps(found[1]).decode())


def _asked(words: str) -> list[tuple[str, Mapping[str, str]]]:
    """The tools that the words ask for, with what they are called with."""
    asked: list[tuple[str, Mapping[str, str]]] = []
    if ASSIGN.search(words):
        asked.append(("assign_work", {"assignee": words, "due": words}))
    if person := FIND.search(words):
        asked.append(("find_person", {"name": (person["name"] or person["en"]).strip()}))
    if SEARCH.search(words):
        asked.append(("search_memory", {"query": SEARCH.sub("", words).strip(" ：:，,") or words}))
    return asked


def of_results(messages: Sequence[Message], say: Sentences) -> str:
    """What the results behind the last question say; empty without any."""
    results = []
    for message in reversed(messages):
        if message.role == "user":
            break
        if message.role == "tool" and (block := RESULT.match(message.content)):
            results.append(block["text"])
    return "\n\n".join([say.looked_up, *reversed(results)]) if results else ""
