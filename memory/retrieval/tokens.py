"""What a text is searched by: one function for what is indexed and for what is asked.

Chinese gives its words (`rjieba`, search mode) and every pair of neighbouring characters, so that a name or a word
the dictionary lacks is found too. Traditional characters are folded to Simplified ones. English words are stemmed.
A code such as `AB-1203` is kept whole and gives its parts. Words that carry no meaning of their own are left out:
in trials that is worth 2 to 3 points of recall@10 (LoCoMo and MADial dev alike), the stemming another 3.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import islice, pairwise

import rjieba
import Stemmer

from llm.chinese import simplified
from llm.text import whole
from memory.retrieval.empty_words import CHINESE, ENGLISH, GLUE

VERSION = 1
"""Raised whenever the same text gives other tokens: what was indexed before must be indexed again."""

MOST_TOKENS = 4_000
"""Different tokens of one text. A message of 100 kB keeps its codes and words, and loses pairs of characters."""

LONGEST_TOKEN = 64
"""Characters. What is longer is no word that anybody asks for (base64, an address)."""

HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KANA_AND_HANGUL = "\u3040-\u30ff\uac00-\ud7af"
EASTERN = HAN + KANA_AND_HANGUL
RUN = re.compile(rf"(?P<eastern>[{EASTERN}]+)|(?:(?![{EASTERN}])[^\W_])+(?:[-_./:'’](?:(?![{EASTERN}])[^\W_])+)*")
PART = re.compile(r"\d+|[^\W\d_]+")


def tokens(text: str) -> Counter[str]:
    """The tokens of `text` and how often each stands in it: at most MOST_TOKENS different ones."""
    runs = [(match.group(), match["eastern"] is not None) for match in RUN.finditer(fold(text))]
    eastern = [run for run, is_eastern in runs if is_eastern]
    # Beside Chinese, an English word that else means nothing is a name: IT 部门.
    counts = Counter(_western([run for run, is_eastern in runs if not is_eastern], left_out=() if eastern else ENGLISH))
    counts.update(token for run in eastern for token in _chinese(run))
    return counts if len(counts) <= MOST_TOKENS else Counter(dict(islice(counts.items(), MOST_TOKENS)))


def tokens_of_unit(text: str, *, context: str = "") -> Counter[str]:
    """The tokens of a unit: those of its own text count twice, those of the turn before it once.

    Counted alike, the two together find more than the text alone (recall@10 on LoCoMo dev 62 to 70), but the turn
    behind the right one is often put before it: nDCG@10 51.2; counted 2 to 1 it is 54.5, and 3 to 1 is much the same.
    """
    counts = Counter({token: 2 * count for token, count in tokens(text).items()})
    for token, count in tokens(context).items():
        if token in counts or len(counts) < MOST_TOKENS:
            counts[token] += count
    return counts


def fold(text: str) -> str:
    """`text` in one spelling: width, case, Traditional characters."""
    return simplified(unicodedata.normalize("NFKC", whole(text)).casefold())


def _chinese(run: str) -> Iterator[str]:
    """The characters, pairs and longer words of a run. A pair is a word of the dictionary or might be a name."""
    words = {word for word in rjieba.cut_for_search(run) if word not in CHINESE}
    yield from (character for character in run if character not in CHINESE)
    yield from (word for word in rjieba.cut_for_search(run) if len(word) > 2)
    for pair in map("".join, pairwise(run)):
        if pair in words or not (pair in CHINESE or CHINESE.issuperset(pair) or GLUE.intersection(pair)):
            yield pair


def _western(runs: list[str], left_out: Collection[str]) -> Iterator[str]:
    """Words, stemmed, and numbers. Of a compound with a digit (`ab-1203`, `3.14`) also the whole, see `_code`."""
    stem = Stemmer.Stemmer("english").stemWord  # one for each text: it may not be shared by threads
    for run in runs:
        parts = PART.findall(run)
        yield from (stem(part) for part in parts if len(part) <= LONGEST_TOKEN and part not in left_out)
        if len(parts) > 1 and len(run) <= LONGEST_TOKEN and any(part.isdecimal() for part in parts):
            yield _code(run, parts)


def _code(run: str, parts: list[str]) -> str:
    """One spelling for `AB-1203`, `ab_1203` and `AB1203`. Dates, amounts and versions keep their marks."""
    return run if run[0].isdecimal() else "".join(parts)
