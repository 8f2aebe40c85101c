"""The sentences of the demo model, in the two languages that it answers in."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sentences:
    """One language. Braces are filled by `llm.demo`."""

    greeting: str
    honest: str
    quote: str
    said_before: str
    remembered: str
    remembered_line: str
    tasks: str
    looked_up: str
    heard: str
    last_heard: str
    first: str
    report: str
    translation: str
    advice: str


CHINESE = Sentences(
    greeting="{name}，您好。",
    honest="我是内置的演示模型，只会引用这次请求里已有的内容，不会推理。",
    quote="「{text}」",
    said_before="您之前说过：",
    remembered="记忆和资料里有：",
    remembered_line="{day}：「{text}」",
    tasks="您现在的任务：",
    looked_up="查到的是：",
    heard="我能看到这个会话里您之前的 {count} 条消息。",
    last_heard="其中没有与这句话相关的内容，最近一条是「{text}」。",
    first="这是我看到的第一条消息。您可以先告诉我一件事，例如“项目代号是北极星”，稍后再问我，就能看到记忆是否有效。",
    report=(
        "## 本周周报（演示）\n\n"
        "| 序号 | 事项 | 进展 | 下一步 |\n|---|---|---|---|\n{rows}\n\n"
        "进展和下一步由真正的模型来写，这里只按您的原话排成表格。"
    ),
    translation=(
        "### 翻译与润色（演示）\n\n| 原文 | 结果 |\n|---|---|\n{rows}\n\n"
        "演示模型不会翻译，接入真正的模型后，结果会出现在右栏。"
    ),
    advice="要得到真正的回答，请管理员在后台添加一个模型。",
)

ENGLISH = Sentences(
    greeting="Hello {name}. ",
    honest="I am the built-in demo model: I can only quote what stands in this request, and I do not reason.",
    quote="“{text}”",
    said_before="You said before:",
    remembered="In memory and documents I find:",
    remembered_line="{day}: “{text}”",
    tasks="Your tasks now:",
    looked_up="This is what I found:",
    heard="Earlier messages of yours that I can see in this conversation: {count}.",
    last_heard=" None of them is about this; the latest is “{text}”.",
    first=(
        "This is the first message I see. Tell me something, for example “the project is called Polaris”, "
        "and ask me about it later to see memory at work."
    ),
    report=(
        "## Weekly report (demo)\n\n"
        "| No. | Item | Progress | Next step |\n|---|---|---|---|\n{rows}\n\n"
        "A real model writes progress and next steps; this table only holds your own words."
    ),
    translation=(
        "### Translation and polish (demo)\n\n| Original | Result |\n|---|---|\n{rows}\n\n"
        "The demo model does not translate; with a real model the result stands on the right."
    ),
    advice="For real answers, an administrator can add a model in the admin.",
)
