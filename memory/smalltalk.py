"""Telling small talk from what may be worth remembering, before a model is asked."""

import re

_MARKS = re.compile(r"[\W_]+")
_GREETINGS = """
你好 您好 早 早上好 上午好 中午好 下午好 晚上好 晚安 在吗 在么 嗨 哈喽 谢谢 多谢 谢谢你 谢谢您
好的 好 好吧 行 可以 嗯 嗯嗯 哦
知道了 明白 明白了 收到 再见 拜拜 辛苦了 不客气 没事 没关系 哈哈 哈哈哈 继续 测试 试试
hi hello hey goodmorning goodafternoon goodevening goodnight thanks thankyou thx ok okay yes no sure great cool fine bye
goodbye seeyou gotit understood goon continue test testing lol haha
"""
GREETINGS = frozenset(_GREETINGS.split())
SHORTEST = 2
"""Letters; less says nothing."""


def is_small_talk(words: str) -> bool:
    """Whether a message is a greeting, thanks, assent or a sound, and nothing else."""
    letters = _MARKS.sub("", words.casefold())
    return len(letters) < SHORTEST or letters in GREETINGS
