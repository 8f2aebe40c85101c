"""What is taken out of everything that is made from a conversation: keys, resident ids and bank cards.

The transcript and the current turn stay as typed, for their owner alone. Whatever is derived from them goes through
`redact` first. Ids and cards are told by their checksums, so that an ordinary order number survives.
"""

import re
from collections.abc import Iterator

from stdnum import luhn
from stdnum.cn import ric
from stdnum.exceptions import ValidationError

KEY, RESIDENT_ID, CARD = "[redacted key]", "[redacted id]", "[redacted card]"

# Same length, so that what is found in the plain form stands at the same place in the text as typed.
_PLAIN_DIGITS = str.maketrans("０１２３４５６７８９Ｘｘ－　", "0123456789Xx- ")
_DIGITS = re.compile(r"(?<![0-9A-Za-z])[0-9](?:[ -]?[0-9])+[Xx]?(?![0-9A-Za-z])")
_GROUP = re.compile(r"[0-9]+[Xx]?")

# In ASCII a word begins behind a Chinese character: 密钥sk-… has no space before the key.
_KEYS = re.compile(
    r"""
      -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----.*?(?:-----END\ [A-Z ]*PRIVATE\ KEY-----|\Z)
    | \beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?                                # JSON web token
    | \b(?:sk|pk|rk)[-_](?:[A-Za-z]+[-_])*[A-Za-z0-9_-]{16,}               # model and payment providers
    | \b(?:gh[oprsu]_|github_pat_|glpat-|hf_|npm_|pypi-|dop_v1_|shpat_)\w[\w-]{15,}
    | \bxox[abeoprs]-[\w-]{10,}
    | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
    | \bLTAI[0-9A-Za-z]{12,}
    | \bAIza[\w-]{30,}
    | \bAKID[0-9A-Za-z]{13,}
    | (?<=://)[^\s\u3000/:@]+:[^\s\u3000/@]+(?=@)                           # user and password in an address
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_NAMED = re.compile(
    r"""(
        (?:api[\ _-]?key|access[\ _-]?key|secret(?:[\ _-]?key)?|(?:access[\ _-]?|auth[\ _-]?)?token|passw(?:or)?d|pwd
          |密钥|秘钥|令牌|密码|口令)
        (?:["'\s\u3000]*(?:[:=：＝]|\bis\b|是|为)["'\s\u3000]*)
        (?:bearer\s+)?
      | \bbearer\s+
    )([A-Za-z0-9_\-./+=~!@\#$%^&*]{8,})""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)

# Issuer prefixes with the lengths that exist: a number of another length is no card, whatever its checksum.
_ISSUERS: tuple[tuple[re.Pattern[str], tuple[int, ...]], ...] = (
    (re.compile(r"62|81"), (16, 17, 18, 19)),
    (re.compile(r"4"), (13, 16, 19)),
    (re.compile(r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), (16,)),
    (re.compile(r"3[47]"), (15,)),
    (re.compile(r"30[0-5]|3[68]"), (14,)),
    (re.compile(r"35|6011|64[4-9]|65|60"), (16,)),
)
LONGEST = 19
"""Digits of the longest card."""


def redact(text: str) -> str:
    """The text with keys, tokens, resident ids and bank cards replaced by what they were."""
    text = _KEYS.sub(KEY, text)
    text = _NAMED.sub(lambda found: found.group(1) + KEY, text)
    for start, end, mark in reversed(list(_numbers(text.translate(_PLAIN_DIGITS)))):
        text = text[:start] + mark + text[end:]
    return text


def _numbers(plain: str) -> Iterator[tuple[int, int, str]]:
    """Where ids and cards stand. One may be written in groups, and stand beside other numbers."""
    for run in _DIGITS.finditer(plain):
        groups = [(run.start() + group.start(), group.group()) for group in _GROUP.finditer(run.group())]
        first = 0
        while first < len(groups):
            found = _from(groups[first:])
            if found:
                count, mark = found
                last_start, last = groups[first + count - 1]
                yield groups[first][0], last_start + len(last), mark
            first += found[0] if found else 1


def _from(groups: list[tuple[int, str]]) -> tuple[int, str] | None:
    """How many groups from the first on make an id or a card, and which."""
    number = ""
    for count, (_start, digits) in enumerate(groups, start=1):
        number += digits
        if len(number) > LONGEST:
            return None
        mark = _kind(number)
        if mark:
            return count, mark
    return None


def _kind(number: str) -> str | None:
    if len(number) == 18 and _is_resident_id(number):
        return RESIDENT_ID
    if number.isdigit() and luhn.is_valid(number):
        is_card = any(len(number) in lengths and prefix.match(number) for prefix, lengths in _ISSUERS)
        return CARD if is_card else None
    return None


def _is_resident_id(number: str) -> bool:
    """By its checksum, and by a date of birth that exists. The place may be one that the tables do not know."""
    try:
        birth = ric.get_birth_date(number)
    except ValidationError:
        return False
    return birth.year >= 1900 and ric.calc_check_digit(number) == number[-1].upper()
