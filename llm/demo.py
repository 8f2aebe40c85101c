"""What the demo model says: honest about being one, and made of what stands in the request.

It understands nothing. It finds earlier messages and remembered lines that share words with the question,
and quotes them in the question's language, so that a newcomer sees memory work.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from llm.demo_sentences import CHINESE, ENGLISH, Sentences
from llm.demo_tools import of_results
from llm.types import Message

DATA_BLOCK = re.compile(r"\A\s*<<<(?P<name>\w+)\n(?P<data>.*?)\n(?P=name)>>>\s*", re.DOTALL)
"""The block that may stand before a person's words: from `<<<name` to `name>>>`."""

TITLE = re.compile(r"\[[^\]]+\]|Relevant Memory:")
PERSON = re.compile(r"姓名\s*[:：]\s*([^|\n]+)")
REMEMBERED = re.compile(r"-\s*(?P<day>\d{4}-\d{2}-\d{2})\s*\(Summary:\s*(?P<text>.*)\)")
QUESTION = re.compile(
    r"[?？吗呢]\s*$|什么|哪|谁|几|多少|怎么|为何"
    r"|^(what|who|when|where|which|why|how|do|does|did|is|are|can)\b",
    re.I,
)
SENTENCE_END = re.compile(r"\n|(?<=[。！？；!?])")
TASKS_BLOCK = re.compile(r"^\[我的任务\]\n(?P<lines>(?:- .*(?:\n|\Z))+)", re.MULTILINE)
ABOUT_TASKS = re.compile(r"任务|待办|要做什么|工作安排|\b(?:tasks?|to-?dos?)\b", re.I)
REPORT = re.compile(r"周报|weekly report", re.I)
TRANSLATION = re.compile(r"翻译|润色|translat|polish", re.I)

CHINESE_RUN = re.compile(r"[\u3400-\u9fff]+")
WORD = re.compile(r"[a-z0-9][a-z0-9_.-]*[a-z0-9]", re.I)
COMMON_ENGLISH = """
an and are as at be can did do does for how if in is it know me my of on or our so tell that the this to us
was we what when where which who will with you your about remember
"""
COMMON_CHINESE = """
我的 您的 你的 我们 你们 什么 是什 么时 时候 怎么 请问 一下 告诉 诉我 知道
记得 得我 还记 你还 您还 我说 说过 可以 帮我 这个 那个 一个 是谁 多少 是多
"""
COMMON = frozenset(COMMON_ENGLISH.split() + COMMON_CHINESE.split())
"""Words and pairs of characters that say nothing about what a sentence is about."""

MOST_QUOTES = 3
LONGEST_QUOTE = 240


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request taken apart: the system text, the person's earlier messages, the data, the words now."""

    system: str
    earlier: tuple[str, ...]
    data: str
    words: str

    @classmethod
    def of(cls, messages: Sequence[Message]) -> "Prompt":
        system = "\n".join(message.content for message in messages if message.role == "system")
        *earlier, last = [message.content for message in messages if message.role == "user"]
        block = DATA_BLOCK.match(last)
        words = last[block.end() :] if block else last
        return cls(system, tuple(earlier), block["data"] if block else "", words.strip())


def answer(messages: Sequence[Message]) -> str:
    """The answer to a normalised conversation, as Markdown."""
    prompt = Prompt.of(messages)
    say = CHINESE if CHINESE_RUN.search(prompt.words) or not prompt.words else ENGLISH
    parts = [_opening(prompt, say), of_results(messages, say) or _body(prompt, say), say.advice]
    return "\n\n".join(parts)


def _opening(prompt: Prompt, say: Sentences) -> str:
    person = PERSON.search(prompt.data)
    greeting = say.greeting.format(name=person[1].strip()) if person else ""
    return greeting + say.honest


def _body(prompt: Prompt, say: Sentences) -> str:
    if REPORT.search(prompt.system):
        items = [item.strip() for item in re.split(r"[\n;；。]+", prompt.words) if item.strip()]
        return say.report.format(rows="\n".join(f"| {n} | {_cell(item)} | … | … |" for n, item in enumerate(items, 1)))
    if TRANSLATION.search(prompt.system):
        lines = [line for line in prompt.words.splitlines() if line.strip()]
        return say.translation.format(rows="\n".join(f"| {_cell(line)} | … |" for line in lines))
    return _from_memory(prompt, say)


def _from_memory(prompt: Prompt, say: Sentences) -> str:
    tasks = _tasks(prompt)
    data = TASKS_BLOCK.sub("", prompt.data) if tasks else prompt.data
    said = _related(prompt.words, (text for text in _sentences(*prompt.earlier) if not QUESTION.search(text)))
    remembered = _related(prompt.words, (text for text in _sentences(data) if not TITLE.fullmatch(text)))
    found = [
        *_listed(say.tasks, tasks),
        *_listed(say.said_before, [say.quote.format(text=one_line(text)) for text in said]),
        *_listed(say.remembered, [_remembered(line, say) for line in remembered]),
    ]
    count = len(prompt.earlier)
    if not count and not found:
        return say.first
    heard = [say.heard.format(count=count)] if count else []
    if count and not found:
        heard.append(say.last_heard.format(text=one_line(prompt.earlier[-1])))
    return "\n\n".join([*found, "".join(heard)]).strip()


def _tasks(prompt: Prompt) -> list[str]:
    """The lines about the person's work, when they ask for it."""
    block = TASKS_BLOCK.search(prompt.data) if ABOUT_TASKS.search(prompt.words) else None
    return [line.removeprefix("- ") for line in block["lines"].splitlines()] if block else []


def _sentences(*texts: str) -> Iterator[str]:
    for text in texts:
        yield from filter(None, (sentence.strip() for sentence in SENTENCE_END.split(text)))


def _related(words: str, texts: Iterable[str]) -> list[str]:
    """Those of `texts` that share something with `words`, the most first, the newer before the older."""
    wanted = features(words)
    ranked = [(len(wanted & features(text)), place, text) for place, text in enumerate(texts)]
    ranked.sort(reverse=True)
    return [text for shared, _, text in ranked if shared][:MOST_QUOTES]


def features(text: str) -> set[str]:
    """Words and codes in small letters and pairs of neighbouring Chinese characters, but no common ones."""
    pairs = {run[at : at + 2] for run in CHINESE_RUN.findall(text) for at in range(len(run) - 1)}
    return ({word.lower() for word in WORD.findall(text)} | pairs) - COMMON


def _listed(title: str, items: list[str]) -> list[str]:
    return ["\n".join([title, "", *(f"- {item}" for item in items)])] if items else []


def _remembered(line: str, say: Sentences) -> str:
    memory = REMEMBERED.fullmatch(line)
    if memory:
        return say.remembered_line.format(day=memory["day"], text=one_line(memory["text"]))
    return say.quote.format(text=one_line(line))


def one_line(text: str) -> str:
    """The text without line ends, and of a long one its beginning."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_QUOTE else line[:LONGEST_QUOTE] + "…"


def _cell(text: str) -> str:
    return one_line(text).replace("|", "\\|")
