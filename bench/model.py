"""The scripted model of the streaming bench, in a process of its own: the same long answer for whoever asks.

python -m bench.model ANSWERS TOKENS RATE      # prints its address, and ends when its standard input closes
"""

import sys

from tests.doubles import Answer, ModelServer

SENTENCE = (
    "我们",
    "把",
    "上线",
    "的",
    "日期",
    "定",
    "在",
    "五月",
    "三日",
    "，",
    "李娜",
    "负责",
    "**核对**",
    "清单",
    "。\n\n",
)


def pieces(tokens: int) -> list[str]:
    """Believable text of that many pieces, in short Markdown paragraphs."""
    return [SENTENCE[number % len(SENTENCE)] for number in range(tokens)]


def main() -> None:
    answers, tokens, rate = (int(argument) for argument in sys.argv[1:])
    with ModelServer() as server:
        events = Answer(pieces(tokens)).stream()  # written once: the model is to cost the clients nothing
        server.enqueue(*[Answer(events=events, delay=1 / rate)] * answers)
        sys.stdout.write(f"{server.base_url}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
