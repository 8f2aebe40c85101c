"""Which people a name or a sentence means, among those that the speaker may give work to.

A whole name outranks everything else. Otherwise whoever the word could mean is among the answers: a part of the name,
a nickname, pinyin, initials. When these are several, somebody has to ask; nothing here guesses, and nobody outside
the speaker's own people is ever considered.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, product

from django.db.models import QuerySet
from pypinyin import Style, pinyin

from memory.person import Person
from profiles.models import UserProfile

HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
HAN_NAME = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff·]{2,}")
WORD = re.compile(r"[^\W\d_]+", re.UNICODE)
MYSELF = ("我自己", "我本人", "自己", "本人", "myself")
ME = ("我", "me")
SURNAMES = frozenset(
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚"
    "谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚"
)
"""Common ones, without those that are also little words (于, 向, 和). In 张小明 nobody means 王小明."""
COMPOUND = ("欧阳", "上官", "司马", "诸葛", "司徒", "东方", "令狐", "皇甫", "尉迟", "公孙", "慕容", "夏侯", "端木")
READINGS = 24
"""Readings of one name that are tried: characters such as 曾 and 乐 have several."""


@dataclass(frozen=True, slots=True)
class Named:
    """Who is meant: nobody, one, or several to choose from. `said` is how a sentence called each, folded, by id."""

    people: tuple[UserProfile, ...] = ()
    said: Mapping[int, str] = field(default_factory=dict)

    @property
    def one(self) -> UserProfile | None:
        """The only one who can be meant."""
        return self.people[0] if len(self.people) == 1 else None


@dataclass(frozen=True, slots=True)
class Spelling:
    """One way to say somebody's name.

    `initials` of two letters are not looked for in a sentence; `given` names not behind somebody else's surname.
    """

    text: str
    is_whole: bool = False
    initials: bool = False
    given: bool = False


def people_in(sentence: str, speaker: Person) -> Named:
    """The people that the sentence names, among those that `speaker` may give work to."""
    folded = fold(sentence)
    candidates = list(_people_of(speaker))
    spans = list(_spans(folded, candidates))
    # Inside 王小明 there is no second person called 小明.
    outer = [span for span in spans if not any(_covers(other, span) for other in spans)]
    found = {person.pk: person for _begin, _end, person in outer}
    words = {person.pk: folded[begin:end] for begin, end, person in outer}
    if not found and _means_self(folded):
        found = {person.pk: person for person in candidates if person.pk == speaker.pk}
    return Named(tuple(sorted(found.values(), key=lambda person: (person.display_name, person.pk))), words)


def person_called(name: str, speaker: Person) -> Named:
    """The people that a bare name means, among those that `speaker` may give work to."""
    candidates = _people_of(speaker)
    if fold(name) in (*ME, *MYSELF):
        return Named(tuple(candidates.filter(pk=speaker.pk)))
    return Named(tuple(named(name, candidates)))


def named(name: str, people: Iterable[UserProfile]) -> list[UserProfile]:
    """Those of `people` who can be meant by `name`: those of exactly this name, else everybody whom it fits."""
    wanted, people = fold(name), list(people)
    if not wanted:
        return []
    exact = [person for person in people if wanted in {s.text for s in _spellings(person) if s.is_whole}]
    return exact or [person for person in people if _fits(wanted, person)]


def fold(text: str) -> str:
    """Case, width and blanks made alike."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _people_of(speaker: Person) -> QuerySet[UserProfile]:
    return UserProfile.objects.assignable_by(speaker).select_related("user")


def _fits(wanted: str, person: UserProfile) -> bool:
    whole = fold(person.display_name)
    is_part = bool(HAN_NAME.fullmatch(wanted)) and wanted in whole
    return is_part or wanted.replace(" ", "") in {spelling.text for spelling in _spellings(person)}


def _spans(sentence: str, people: Iterable[UserProfile]) -> Iterator[tuple[int, int, UserProfile]]:
    """Where the sentence says one of the spellings of somebody, as (begin, end, person)."""
    for person in people:
        for spelling in _spellings(person):
            if len(spelling.text) < 2 or (spelling.initials and len(spelling.text) < 3):
                continue
            for match in re.finditer(_whole_words(spelling.text), sentence):
                if not (spelling.given and _has_another_surname(sentence[: match.start()])):
                    yield match.start(), match.end(), person


def _whole_words(text: str) -> str:
    """Latin letters must not go on at either end; Chinese has no blanks to go by."""
    return rf"(?<![a-z0-9_]){re.escape(text)}(?![a-z0-9_])" if text.isascii() else re.escape(text)


def _has_another_surname(before: str) -> bool:
    return before[-1:] in SURNAMES or before[-2:] in COMPOUND


def _covers(outer: tuple[int, int, UserProfile], inner: tuple[int, int, UserProfile]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1] and outer[1] - outer[0] > inner[1] - inner[0]


def _means_self(sentence: str) -> bool:
    return any(word in sentence for word in MYSELF) or bool(
        re.search(r"(?:[给为替帮]|提醒)我|\b(?:for|remind) me\b", sentence)
    )


def _spellings(person: UserProfile) -> set[Spelling]:
    """Every way to say the name of one person, folded."""
    whole = fold(person.display_name)
    found = {Spelling(whole, is_whole=True), Spelling(fold(person.user.get_username()))}
    found |= {Spelling(fold(alias), given=bool(HAN.search(alias))) for alias in person.aliases}
    for text in (whole, *map(fold, person.aliases)):
        if HAN_NAME.fullmatch(text):
            found |= _of_chinese(text)
    if not HAN.search(whole):
        found |= {Spelling(word) for word in WORD.findall(whole) if len(word) > 1}
        found.add(Spelling(whole.replace(" ", "")))
    return {spelling for spelling in found if spelling.text}


def _of_chinese(name: str) -> set[Spelling]:
    """The given name; the pinyin of all of it, of the given name, and given name first; the initials."""
    length = 2 if name.startswith(COMPOUND) else 1
    given = name[length:]
    found = {Spelling(given, given=True)} if len(given) > 1 else set()
    for syllables in _readings(name):
        family, own = "".join(syllables[:length]), "".join(syllables[length:])
        letters = "".join(syllable[0] for syllable in syllables)
        found |= {Spelling(family + own), Spelling(own + family), Spelling(letters, initials=True)}
        found |= {Spelling(f"{family} {own}"), Spelling(f"{own} {family}"), Spelling(" ".join(syllables))}
        if len(given) > 1:
            found |= {Spelling(own), Spelling(letters[length:], initials=True), Spelling(" ".join(syllables[length:]))}
    return found


def _readings(name: str) -> list[tuple[str, ...]]:
    """The pinyin of a name, syllable by syllable, in every reading; 吕 is lü, and typed lv, lu or lyu."""
    syllables = pinyin(name, style=Style.NORMAL, heteronym=True, v_to_u=False)
    typed = [dict.fromkeys(spelling for reading in readings for spelling in _typed(reading)) for readings in syllables]
    return list(islice(product(*typed), READINGS))


def _typed(reading: str) -> tuple[str, ...]:
    plain = reading.lower()
    return (plain,) if "v" not in plain else (plain, plain.replace("v", "u"), plain.replace("v", "yu"))
