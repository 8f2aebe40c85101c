"""When something is due, as people say it (P6): in their own zone, and nothing where nobody said when."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User

from profiles import dates
from profiles.dates import due, due_in
from tests.profiles import phrases

SHANGHAI = ZoneInfo("Asia/Shanghai")
WEDNESDAY = datetime(2026, 12, 2, 10, 30, tzinfo=SHANGHAI)


def meant(words: str, now: datetime = WEDNESDAY) -> str | None:
    """What is understood, with the time if one was said."""
    found = due(words, now=now)
    if found is None:
        return None
    assert found.at.tzinfo == now.tzinfo
    assert found.has_time or (found.at.hour, found.at.minute) == (23, 59)
    return f"{found.at:%Y-%m-%d %H:%M}" if found.has_time else f"{found.at:%Y-%m-%d}"


def without_end(moment: str) -> str:
    return moment.removesuffix(" 23:59")


@pytest.mark.parametrize(("words", "moment"), [*phrases.CHINESE, *phrases.ENGLISH])
def test_a_phrase_means_its_moment(words: str, moment: str) -> None:
    """P6: on a Wednesday at 10:30."""
    assert meant(words) == without_end(moment)


@pytest.mark.parametrize("words", phrases.NO_DATE, ids=lambda words: words[:20])
def test_where_nobody_said_when_there_is_nothing(words: str) -> None:
    """P6: asks, never guesses."""
    assert meant(words) is None


@pytest.mark.parametrize(("day", "words", "moment"), phrases.SAID_ON)
def test_the_day_on_which_it_is_said_counts(day: str, words: str, moment: str) -> None:
    """P6: 下周五 on a Friday and on a Sunday, ends of months, leap years."""
    assert meant(words, datetime.fromisoformat(f"{day}T10:30").replace(tzinfo=SHANGHAI)) == moment


def test_tomorrow_is_tomorrow_where_the_speaker_is(people: dict[str, User], monkeypatch: pytest.MonkeyPatch) -> None:
    """P6: at 20:00 UTC it is the next day in Shanghai already."""
    monkeypatch.setattr(dates.timezone, "now", lambda: datetime(2026, 12, 2, 20, 0, tzinfo=UTC))
    bob, profile = people["bob"], people["bob"].profile
    here = due_in("明天下午三点", bob)
    profile.time_zone = "America/New_York"
    profile.save()
    there = due_in("明天下午三点", bob)
    assert here
    assert there
    assert here.at.astimezone(UTC) == datetime(2026, 12, 4, 7, 0, tzinfo=UTC)
    assert there.at.astimezone(UTC) == datetime(2026, 12, 3, 20, 0, tzinfo=UTC)


def test_hours_pass_by_the_clock_when_summer_time_ends() -> None:
    night = datetime(2026, 11, 1, 0, 30, tzinfo=ZoneInfo("America/New_York"))
    found = due("in 2 hours", now=night)
    assert found
    assert (found.at.astimezone(UTC) - night.astimezone(UTC)).total_seconds() == 7200


def test_the_words_that_said_it_are_told() -> None:
    found = due("给小明派个任务，下周五下午三点前交季度报告", now=WEDNESDAY)
    assert found
    assert found.words == "下周五下午三点"


def test_of_two_dates_the_deadline_counts() -> None:
    assert meant("把12月3日的会议纪要在周五之前发出来") == "2026-12-04"
    assert meant("send the notes of December 3 by Friday") == "2026-12-04"
