"""What people and models write becomes safe HTML, and the same HTML however it arrives."""

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from flows import markdown
from flows.markdown import BlockStream, render
from llm.text import safe

# Where Markdown goes wrong, it goes wrong at these.
FRAGMENTS = [
    *(
        "word",
        "中文",
        "😀",
        "\ud83d",
        "\ude00",
        "\0",
        "\u3000",
        "\u2028",
        "\n",
        "\n\n",
        "\r",
        "\r\n",
        " ",
        "    ",
        "\t",
    ),
    *("# ", "## 标题\n", "---", "===", "- - -", "***", "> ", "- ", "* ", "1. ", "2) ", "1986. ", "  - "),
    *("```", "```py\n", "   ```", "~~~", "````", "|a|b|\n", "|-|:-:|\n", "**", "_", "~~", "`"),
    *("[a](b)", "[a](javascript:alert(1))", "[ref]", "[ref]: http://example.org\n", "![i](http://x/y.png)"),
    *("<script>alert(1)</script>", "<!-- ", "-->", "&amp;", "<b onclick=x>", "<http://example.org>"),
]
texts = st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join) | st.text()


def streamed(text: str, cuts: list[int]) -> list[tuple[int, str]]:
    """The blocks of `text` arriving in the pieces between `cuts`."""
    stream = BlockStream()
    edges = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    blocks = []
    for start, end in pairwise(edges):
        blocks += stream.feed(text[start:end])
    return blocks + stream.finish()


@settings(deadline=None)
@given(text=texts, cuts=st.lists(st.integers(min_value=0), max_size=8))
@example(text="- a\n\n  ```\n  x\n\ny\n  ```\nz", cuts=[3, 9])
@example(text="Title\n-\n- - -\n```\n\n# no heading\n```\nend", cuts=[])
def test_the_blocks_of_any_cut_are_what_the_whole_shows(text: str, cuts: list[int]) -> None:
    """S1: what a reload shows is what one saw arrive."""
    blocks = streamed(text, cuts)
    assert "".join(html for _, html in blocks) == render(text)
    assert [index for index, _ in blocks] == list(range(len(blocks)))


@settings(deadline=None)
@given(text=texts)
def test_a_text_that_arrives_letter_by_letter_has_the_same_blocks(text: str) -> None:
    assert streamed(text, list(range(len(text)))) == streamed(text, [])


@settings(deadline=None)
@given(text=texts)
def test_nothing_that_could_run_survives(text: str) -> None:
    html = render(text).lower()
    assert "<script" not in html
    assert "<img" not in html
    assert "<b " not in html
    assert 'href="javascript' not in html


@settings(deadline=None)
@given(text=texts, cut=st.integers(min_value=0))
def test_shown_blocks_and_the_rest_are_the_whole_text(text: str, cut: int) -> None:
    """The page puts `rest` behind the blocks: it must be what those blocks do not show."""
    piece = safe(text[: cut % (len(text) + 1)].replace("\r", ""))
    stream = BlockStream()
    blocks = stream.feed(piece)
    assert piece.endswith(stream.rest)
    assert "".join(html for _, html in blocks) + render(stream.rest) == render(piece)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**重点** 和 `AB-1203`", "<p><strong>重点</strong> 和 <code>AB-1203</code></p>\n"),
        ("~~旧~~", "<p><s>旧</s></p>\n"),
        ("```python\nx < 1\n```", '<pre><code class="language-python">x &lt; 1\n</code></pre>\n'),
        ('``` "onmouseover=x\n1\n```', "<pre><code>1\n</code></pre>\n"),
        ("3. 三\n4. 四", '<ol start="3">\n<li>三</li>\n<li>四</li>\n</ol>\n'),
        ("\ud83d" + "\ude00", "<p>😀</p>\n"),
    ],
)
def test_markdown_is_shown_as_meant(text: str, html: str) -> None:
    assert render(text) == html


def test_a_table_keeps_its_alignment_without_inline_style() -> None:
    """O4: the page's policy allows no style attribute."""
    html = render("|名称|数|\n|:-|-:|\n|甲|1|")
    assert '<div class="table"><table>' in html
    assert '<td align="right">1</td>' in html
    assert "style" not in html


@pytest.mark.parametrize("address", ["http://example.org/a", "https://example.org/?q=1", "mailto:li@example.org"])
def test_a_link_opens_without_a_way_back(address: str) -> None:
    html = render(f"[这里]({address})")
    assert f'href="{address}"' in html
    assert 'rel="noopener noreferrer nofollow"' in html


@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc"]
)
def test_a_link_to_anything_else_leads_nowhere(address: str) -> None:
    assert f'href="{address}' not in render(f"[这里]({address}) <{address}>")


def test_an_image_is_a_link_and_is_not_fetched() -> None:
    assert render("![图](https://example.org/a.png)").startswith('<p>!<a href="https://example.org/a.png"')


def test_html_is_shown_as_the_text_it_is() -> None:
    assert render("<script>alert(1)</script>") == "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"


def test_ten_thousand_characters_without_a_space_are_whole() -> None:
    assert render("字" * 10_000) == f"<p>{'字' * 10_000}</p>\n"


def test_a_paragraph_is_sent_as_soon_as_it_has_ended() -> None:
    stream = BlockStream()
    assert stream.feed("第一段。\n") == []
    assert stream.feed("\n第二") == [(0, "<p>第一段。</p>\n")]
    assert stream.rest == "第二"
    assert stream.feed("段\n- 一\n- 二\n## 标题\n```\n1\n\n2\n```\n尾")[-1] == (
        4,
        "<pre><code>1\n\n2\n</code></pre>\n",
    )
    assert stream.rest == "尾"


@pytest.mark.parametrize(
    "piece",
    [
        "x = 1\n\n# 注\n",
        "- 一\n\n",
        "1986. 年\n",
        "|1|2|\n",
        "> 引\n",
        "字",
        "    码\n\n",
        "- a\nb\n\n",
        "[",
        "*a ",
    ],
)
@pytest.mark.parametrize("opening", ["", "```\n", "|a|b|\n|-|-|\n"])
def test_the_work_grows_with_the_text_and_not_with_its_square(
    opening: str, piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S1: the server keeps up with a very long answer: each character is parsed only a few times."""
    parsed = 0
    parse = markdown._parse

    def counting(text: str) -> list[markdown.Token]:
        nonlocal parsed
        parsed += len(text)
        return parse(text)

    monkeypatch.setattr(markdown, "_parse", counting)
    stream = BlockStream()
    text = opening + piece * (20_000 // len(piece))
    blocks = stream.feed(text) + stream.finish()
    assert blocks
    # Four times over, and the small blocks that may be tried at every line.
    assert parsed <= 4 * len(text) + markdown._SMALL * 2_000 / len(piece)
