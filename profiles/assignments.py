"""Sentences that give work: whether one does, which part says to whom, and what remains as the title of the task.

Rules alone, so that it works without a model: in 给小明派个任务，下周五前交季度报告 the work is 交季度报告, and English
is read alike. What the rules do not know stays in the title as it was said; nothing is made up.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from llm.chinese import simplified

LONGEST = 2_000
"""Characters that are read. Whoever gives work says what it is in fewer."""
_KIND = r"(?:任务|工作|活儿?|差事|事情?儿?|待办)"
_COUNT = r"(?:[一1]?[个项件份条])?新?"
_TASK = r"(?:(?:a|an|one|the|another)\s+)?(?:new\s+)?(?:task|job|to-?do|work item)"
_VERB = r"(?:派|安排|布置|分配|指派|交代|下达|下|发|加|记|创建|新建|建)"
_POLITE = r"请|麻烦|帮我|帮忙|劳驾|我想|我要|想|能不能|能否|可以|能|please|pls|kindly|(?:could|can|would) you"
_PLEASE = rf"^(?:(?:{_POLITE})[你您]?[\s,]*)*"
_ANYBODY = r"[^\s,:;。]{1,20}?"
_ANYONE = r"(?!an?\b|the\b)[\w.'’-]+(?:\s[\w.'’-]+){0,2}?"
_REST = r"[\s,:;。.\-—]*(?:(?:要求|内容是|内容|就是|[让请叫][他她]|[他她]要|to(?=\s)|that(?=\s)|for(?=\s))[\s,:]*)?"
_GIVES = rf"派|安排|布置|分配|交代|交给|{_KIND}给|给.{{1,20}}{_KIND}|\b(?:assign|delegate|give|create|add)\b"
_GIVING = re.compile(_GIVES)
_STRONG = re.compile(rf"{_GIVES}|待办|\b(?:task|to-?do)\b")
_WEAK = re.compile(rf"{_PLEASE}(?:请|让|叫|要|麻烦|提醒|通知|委托|(?:ask|tell|get|have|remind|let|need)\s)")
_MYSELF = r"我自己|我本人|我|自己|myself|me"
_THANKS = r"[\s,.。!]*(?:谢谢[你您]?|多谢|辛苦了?|thanks?(?: you)?)[\s,.。!]*$"
_QUESTION = re.compile(r"(?:[??]|[吗呢么]|什么|怎么样?|\bhelp)\s*[。.!]*$")
_HOW = re.compile(r"^(?:请问|我?想问一?下?|我想知道)?[\s,:]*(?:怎么|怎样|如何|为什么|how\b|why\b)")
_POLITELY = re.compile(r"(?:请问)?(?:你|您)?(?:能|可以)")
_ASKED = r"\s*(?:[,\s]?(?:好吗|好不好|可以吗|行吗|行不行))?\s*[?]+\s*$"
_ASKED_POLITELY = rf"(?<!好)(?<!行)(?<!以)吗?{_ASKED}"
_BLANKS = re.compile(r"\s")
_EDGES = " \t\r\n,，。.;；:：、!！-—"


@dataclass(frozen=True, slots=True)
class _Folded:
    """A text with case, width, script and blanks made alike, and where each of its characters stood."""

    text: str
    places: list[int]

    @classmethod
    def of(cls, original: str) -> "_Folded":
        letters: list[str] = []
        places: list[int] = []
        for place, character in enumerate(original):
            for letter in unicodedata.normalize("NFKC", character).casefold():
                letter = " " if _BLANKS.match(letter) else letter
                if letter != " " or letters[-1:] != [" "]:
                    letters.append(letter)
                    places.append(place)
        folded = "".join(letters)
        plain = simplified(folded)
        return cls(plain if len(plain) == len(folded) else folded, [*places, len(original)])


def gives_work(sentence: str, *, names_somebody: bool, says_when: bool) -> bool:
    """Whether the sentence is to give somebody work, and is no question about how to."""
    text = _Folded.of(sentence[:LONGEST]).text.strip()
    if _HOW.search(text):
        return False
    asks = bool(_QUESTION.search(text))
    if _STRONG.search(text):
        return not asks or (names_somebody and bool(_GIVING.search(text)))
    return not asks and (bool(_WEAK.search(text)) or (names_somebody and says_when))


def said_to(sentence: str) -> str:
    """The part that says to whom, such as 给小明派个任务; empty where the sentence has none that stands apart."""
    folded = _Folded.of(sentence[:LONGEST])
    for pattern in _openings(_ANYBODY, _ANYONE):
        if match := re.search(pattern, folded.text):
            return sentence[: folded.places[match.end("open")]]
    return ""


def title_of(sentence: str, *, said: Iterable[str] = (), due: str = "") -> str:
    """What is to be done: the sentence without whom, by when and please; empty when it says nothing else.

    `said` are the words that named somebody and `due` those that said when, as `naming` and `dates` give them.
    """
    whole = sentence.strip()
    text = _cut(_without_due(whole[:LONGEST], due), _THANKS)
    text = _cut(text, _ASKED_POLITELY if _POLITELY.match(_Folded.of(whole[:LONGEST]).text) else _ASKED)
    named = "|".join(re.escape(simplified(name)) for name in sorted(set(said), key=len, reverse=True) if name)
    patterns = _openings(_all_of(named), _all_of(named)) if named else _openings(_ANYBODY, _ANYONE)
    text = _opened(text.strip(_EDGES), [*patterns, *_namings(named)])
    return _cut(text, _PLEASE).strip(_EDGES)


def _openings(who: str, whom: str) -> list[str]:
    """Ways to begin that need not know the name: the group `open` ends where the work itself begins."""
    give = r"(?:assign|give|create|add|set|make)"
    return [
        rf"{_PLEASE}(?P<open>给\s?{who}\s?再?{_VERB}(?:一下)?了?\s?{_COUNT}\s?{_KIND}吧?)",
        rf"{_PLEASE}(?P<open>{_VERB}\s?{_COUNT}\s?{_KIND}给\s?{who})(?=[\s,:;。]|$)",
        rf"{_PLEASE}(?P<open>{give}\s+{_TASK}\s+(?:to|for)\s+(?:{whom}))(?=\s?[,:;.]|\s(?:to|that)\b|$)",
        rf"{_PLEASE}(?P<open>{give}\s+(?:{whom})\s+{_TASK}\b)",
    ]


def _all_of(named: str) -> str:
    """One of the names, or several in a row: 陈晓、大明各."""
    return rf"(?:{named})(?:\s?(?:[、,和与跟及]|and\b|&)\s?(?:{named}))*(?:各|都|分别|每人)?"


def _namings(named: str) -> list[str]:
    """Ways to begin that are told by the name alone. In two the work stands before it, in the group `what`.

    Without a name it is the speaker.
    """
    who = named or _MYSELF
    to = r"(?:交给|派给|分给|分配给|安排给|指派给)"
    verbs = r"(?:派给|交给|派|安排|指派|让|叫|请|要|通知|提醒|麻烦|委托|给)"
    english = r"(?:ask|tell|get|have|remind|let|assign|i need|need|i want|want)"
    return [
        rf"{_PLEASE}把(?P<what>.+?){to}\s?(?:{who})(?:去|来)?(?:做|完成|处理|办|负责)?$",
        rf"{_PLEASE}(?:assign|give|delegate)\s+(?P<what>.+?)\s+to\s+(?:{who})$",
        rf"{_PLEASE}(?P<open>{verbs}\s?(?:{who})(?:[去来在]|负责|记得)?)",
        rf"{_PLEASE}(?P<open>{english}\s+(?:{who})\b)",
        *([rf"{_PLEASE}(?P<open>(?:{named}))(?=[\s,:]|[^a-z0-9])"] if named else []),
    ]


def _opened(text: str, patterns: Iterable[str]) -> str:
    """The text behind the first of the openings that fits, or the work that stands within it."""
    folded = _Folded.of(text)
    for pattern in patterns:
        match = re.search(pattern, folded.text)
        if match and "what" in match.re.groupindex:
            return text[folded.places[match.start("what")] : folded.places[match.end("what")]]
        if match:
            rest = re.compile(_REST).match(folded.text, match.end("open"))
            return text[folded.places[rest.end() if rest else match.end("open")] :]
    return text


def _without_due(text: str, due: str) -> str:
    """The text without the words that say when. 下周五的会议 keeps its Friday: that is what the work is about."""
    if not due:
        return text
    words = re.escape(simplified(due))
    chinese = rf"[\s,]*(?:在|于|截止到?)?\s*{words}\s*(?:之前|以前|前|截止|为止|之内|内)?(?!\s*[的之])[,]?"
    english = rf"[\s,]*(?:\b(?:by|before|until|due|on|at)(?: on)?(?: the)?(?: end of)? )?{words}(?! ?[的之])\b"
    return _cut(text, english if due.isascii() else chinese)


def _cut(text: str, pattern: str) -> str:
    """The text without the first match, a blank or comma in its place where two parts of a sentence meet."""
    folded = _Folded.of(text)
    match = re.search(pattern, folded.text)
    if not match or not match.group():
        return text
    before, after = text[: folded.places[match.start()]], text[folded.places[match.end()] :]
    gap = match.group().strip(" ") != match.group() or "," in match.group()[:1]
    return f"{before}{'' if not (before and gap) else '，' if ',' in match.group()[:1] else ' '}{after.lstrip()}"
