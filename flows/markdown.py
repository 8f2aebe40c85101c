"""Markdown to safe HTML: whole, or block by block while an answer streams.

Whatever a person or a model wrote is data here: raw HTML stays text, images become links (a page
must not fetch what an answer names), and a strict allow-list runs over all that is rendered.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

from llm.text import safe

_TAGS = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li", "pre", "code"),
    *("em", "strong", "s", "a", "div", "table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {
    "a": {"href", "title"},
    "code": {"class"},
    "div": {"class"},
    "ol": {"start"},
    "th": {"align"},
    "td": {"align"},
}
_SCHEMES = {"http", "https", "mailto"}
_LANGUAGE = re.compile(r"language-[\w+#.-]{1,40}")
_ALIGNMENT = re.compile(r"text-align:(left|center|right)")

# Kinds of line, told by how they begin.
_FENCE = re.compile(r" {0,3}(`{3,}[^`]*$|~{3,})")
_SINGLE = re.compile(r"#{1,6}([ \t]|$)|([*_-])[ \t]*(\2[ \t]*){2,}$")  # a heading or a rule
_ITEM = re.compile(r"([-+*]|\d{1,9}[.)])([ \t]|$)")
_QUOTE = re.compile(r">")

_MARKS = re.compile(r"[*`]|(?<![^\W_])_|_(?![^\W_])|\](?=\()|~(?=~)|<(?=[A-Za-z/!?])|&(?=#?\w+;)|\\(?=[!-/:-@\[-`{-~])")
"""What would be read as Markdown within a line. An underscore within a word is none."""

_OVER = {"heading_open", "hr"}  # with their own last line
_OVER_AT_BLANK = {"paragraph_open", "blockquote_open", "table_open"}  # a list or indented code may go on
_SMALL = 2_000  # characters that may be parsed again at every line


def _wrap_table(*_: object) -> str:
    return '<div class="table"><table>\n'


def _end_table(*_: object) -> str:
    return "</table></div>\n"


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    # A reference defined at the end would change blocks that were sent long before.
    parser.disable(["reference", "image", "html_block", "html_inline"])
    parser.add_render_rule("table_open", _wrap_table)
    parser.add_render_rule("table_close", _end_table)
    return parser


_markdown = _parser()


def _allowed(tag: str, name: str, value: str) -> str | None:
    if tag == "code":
        return value if _LANGUAGE.fullmatch(value) else None
    if tag == "div":
        return value if value == "table" else None
    return value


def _clean(html: str) -> str:
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        attribute_filter=_allowed,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
        strip_comments=True,
    )


def _unix(text: str) -> str:
    """The text with one kind of line end."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _parse(text: str) -> list[Token]:
    tokens = _markdown.parse(text)
    for token in tokens:
        # The page allows no inline style: an aligned cell says so in the attribute.
        style = _ALIGNMENT.fullmatch(str(token.attrs.pop("style", "")))
        if style:
            token.attrs["align"] = style[1]
    return tokens


def _render(tokens: list[Token]) -> str:
    return _clean(_markdown.renderer.render(tokens, _markdown.options, {}))


def _blocks(tokens: list[Token]) -> Iterator[list[Token]]:
    """The tokens of each top-level block."""
    starts = [i for i, token in enumerate(tokens) if token.level == 0 and token.nesting >= 0]
    for start, end in pairwise([*starts, len(tokens)]):
        yield tokens[start:end]


def render(text: str) -> str:
    """Sanitised HTML of a whole Markdown text."""
    return _render(_parse(safe(_unix(text))))


def literal(text: str) -> str:
    """One line of somebody's text, to stand within Markdown and to be read as it was written."""
    return _MARKS.sub(r"\\\g<0>", text)


class BlockStream:
    """Renders an answer while it arrives: each finished block once, as sanitised HTML.

    The blocks, joined, are what `render` makes of the whole text, however it was cut into deltas.
    Only the lines of the open block are kept, and they are parsed only where a block can have ended,
    so the cost grows with the text and not with its square.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []  # complete lines of the open block
        self._size = 0  # characters in them
        self._pieces: list[str] = []  # of the line still being written
        self._patience = 0  # after an attempt in vain on a large block: not before this size
        self._index = 0

    @property
    def rest(self) -> str:
        """The text that is in no block yet."""
        return "\n".join([*self._lines, safe("".join(self._pieces))])

    def feed(self, delta: str) -> list[tuple[int, str]]:
        """Take the next piece of text; return the blocks that it finished, as (index, html)."""
        if self._pieces and self._pieces[-1].endswith("\r"):
            delta = self._pieces.pop() + delta
        held = "\r" if delta.endswith("\r") else ""  # perhaps the first half of \r\n
        *lines, partial = _unix(delta.removesuffix("\r")).split("\n")
        if lines:
            lines[0] = "".join([*self._pieces, lines[0]])
            self._pieces = []
        self._pieces += [piece for piece in (partial, held) if piece]
        return [block for line in lines for block in self._take(safe(line))]

    def finish(self) -> list[tuple[int, str]]:
        """End the text; return the blocks that were still open."""
        blocks = list(_blocks(_parse(self.rest)))
        self._lines, self._pieces = [], []
        return self._numbered(blocks)

    def _take(self, line: str) -> list[tuple[int, str]]:
        if not self._lines and _is_blank(line):
            return []
        self._lines.append(line)
        self._size += len(line) + 1
        return self._end_blocks() if self._can_end_at(line) else []

    def _can_end_at(self, line: str) -> bool:
        """Whether a block can have ended before or with `line`, the last of the open lines."""
        first = self._lines[0]
        if _FENCE.match(first):
            return _closes_fence(first, line)
        if _SMALL < self._size < self._patience:
            return False
        if _is_blank(line):
            return not _ITEM.match(first)
        if len(self._lines) == 1:
            return bool(_SINGLE.match(line))
        if (_ITEM.match(first) and _ITEM.match(line)) or (_QUOTE.match(first) and _QUOTE.match(line)):
            return False
        after_blank = _is_blank(self._lines[-2]) and line[0] not in " \t"
        return after_blank or any(kind.match(line) for kind in (_SINGLE, _FENCE, _ITEM, _QUOTE))

    def _end_blocks(self) -> list[tuple[int, str]]:
        """Render what has ended among the open lines and keep the rest: at most the last block."""
        blocks = list(_blocks(_parse("\n".join(self._lines))))
        kept = [] if self._is_over(blocks[-1][0]) else self._lines[_start(blocks.pop()[0]) :]
        if not blocks:
            self._patience = 2 * self._size
            return []
        self._lines = kept
        self._size = sum(len(line) + 1 for line in kept)
        self._patience = 0
        return self._numbered(blocks)

    def _is_over(self, block: Token) -> bool:
        """Whether no further line can belong to the last open block."""
        if block.type == "fence":
            start, end = block.map or (0, 0)
            return end - start > 1 and _closes_fence(self._lines[start], self._lines[end - 1])
        return block.type in _OVER or (block.type in _OVER_AT_BLANK and _is_blank(self._lines[-1]))

    def _numbered(self, blocks: list[list[Token]]) -> list[tuple[int, str]]:
        first, self._index = self._index, self._index + len(blocks)
        return [(first + i, _render(block)) for i, block in enumerate(blocks)]


def _start(block: Token) -> int:
    return block.map[0] if block.map else 0


def _is_blank(line: str) -> bool:
    return not line.strip(" \t")


def _closes_fence(opening: str, line: str) -> bool:
    run = opening.lstrip(" ")
    length = len(run) - len(run.lstrip(run[0]))
    return bool(re.fullmatch(rf" {{0,3}}{run[0]}{{{length},}}[ \t]*", line))
