"""Words that only hold a sentence together: nobody finds anything by them, and most units have them."""

GLUE = frozenset("的了着是这那哪什我你您他她它们么吗呢吧啊呀哦嗯嘛")
"""Characters that stand between words and in no name: a pair with one is a word (`目的`) or nothing."""

_CHARACTERS = "过在有和与或也都就还又很把被给对跟从到向为以于之其个而但"
_PAIRS = """
我们 你们 他们 她们 它们 咱们 我的 你的 他的 她的 有的 什么 怎么 那么 这么 怎样 如何 这样 那样 这个 那个 哪个
这些 那些 哪些 这里 那里 哪里 这儿 那儿 哪儿 因为 所以 但是 可以 就是 不是 还是 没有 还有 一个 一下 一些 时候
"""
CHINESE = GLUE | frozenset(_CHARACTERS) | frozenset(_PAIRS.split())

_ENGLISH = """
an the of to in on at for and or is are was were be been do does did has have had what when where who whom which how
why with by from as that this it its his her he she they their them him you your my me we our us s t d ll m re ve will
would can could should about
"""
ENGLISH = frozenset(_ENGLISH.split())
"""Without `a`, which tells project A from project B."""
