"""Telling thinking from answer where a model writes both into its content, the first in `<think>` tags."""

OPEN, CLOSE = "<think>", "</think>"


class ThinkSplitter:
    """Splits a stream of content into thinking and answer; a tag may be cut anywhere between two pieces.

    Only a tag that opens the content counts: an answer that talks about tags keeps them.
    """

    def __init__(self) -> None:
        self._held = ""
        self._step = self._at_start

    def feed(self, piece: str) -> tuple[str, str]:
        """The (thinking, answer) that `piece` brings to light; what may yet become a tag is held back."""
        return self._step(piece)

    def end(self) -> tuple[str, str]:
        """What is still held back when the stream is over."""
        held, self._held = self._held, ""
        return (held, "") if self._step == self._in_thinking else ("", held)

    def _at_start(self, piece: str) -> tuple[str, str]:
        self._held += piece
        begun = self._held.lstrip()
        if begun.startswith(OPEN):
            self._held, self._step = "", self._in_thinking
            return self._in_thinking(begun[len(OPEN) :])
        if OPEN.startswith(begun):
            return "", ""
        answer, self._held, self._step = self._held, "", self._in_answer
        return "", answer

    def _in_thinking(self, piece: str) -> tuple[str, str]:
        thinking, closed, rest = (self._held + piece).partition(CLOSE)
        if closed:
            self._held, self._step = "", self._after_thinking
            return thinking, self._after_thinking(rest)[1]
        split = len(thinking) - _begun_tag(thinking)
        self._held = thinking[split:]
        return thinking[:split], ""

    def _after_thinking(self, piece: str) -> tuple[str, str]:
        answer = piece.lstrip()
        if answer:
            self._step = self._in_answer
        return "", answer

    def _in_answer(self, piece: str) -> tuple[str, str]:
        return "", piece


def _begun_tag(text: str) -> int:
    """How many characters at the end of `text` may be the beginning of a closing tag."""
    return next((size for size in range(len(CLOSE) - 1, 0, -1) if text.endswith(CLOSE[:size])), 0)


def split_unopened(text: str) -> tuple[str, str]:
    """The (thinking, answer) of a whole text whose opening tag stood in the prompt template."""
    thinking, closed, answer = text.partition(CLOSE)
    return (thinking.strip(), answer.lstrip()) if closed and OPEN not in thinking else ("", text)
