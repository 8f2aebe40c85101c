"""P2: suggestions that nobody has decided on for long go, and only new memories bring them back."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from memory.models import Episode
from profiles.insight import notice_due_people
from profiles.models import Figures, ProfileTag, TagStatus
from profiles.tasks import sweep_suggestions
from tests.profiles.test_insight import bob, memory, people, suggested

__all__ = ["bob", "people"]
pytestmark = pytest.mark.django_db(transaction=True)
FIRST, SECOND, THIRD = "北斗项目后端联调先列清单。", "北斗的接口文档要写细。", "北斗下周三上线。"
BEIDOU = ("topic", "北斗")


def noticed(user: User, *texts: str) -> None:
    """These memories are read, without a model."""
    for text in texts:
        memory(user, text, "北斗")
    notice_due_people()


def grows_old(days: int) -> None:
    ProfileTag.objects.update(noticed_at=timezone.now() - timedelta(days=days))


def test_an_old_suggestion_goes_and_a_fresh_one_stays(bob: User) -> None:
    noticed(bob, FIRST, SECOND)
    sweep_suggestions()
    assert suggested(bob) == {BEIDOU}
    grows_old(90)
    sweep_suggestions()
    assert not ProfileTag.objects.exists()
    assert Episode.objects.count() == 2, "the memories stay"


@pytest.mark.parametrize("status", [TagStatus.CONFIRMED, TagStatus.REJECTED])
def test_what_was_decided_on_stays(bob: User, status: str) -> None:
    noticed(bob, FIRST, SECOND)
    ProfileTag.objects.update(status=status)
    grows_old(900)
    sweep_suggestions()
    assert ProfileTag.objects.get().status == status


def test_one_that_is_noticed_again_begins_anew(bob: User) -> None:
    noticed(bob, FIRST, SECOND)
    grows_old(89)
    read_again(bob, THIRD)
    sweep_suggestions()
    assert ProfileTag.objects.get().count == 3
    assert ProfileTag.objects.get().noticed_at > timezone.now() - timedelta(days=1)


def test_what_went_comes_back_with_a_new_memory_of_it_alone(bob: User) -> None:
    noticed(bob, FIRST, SECOND)
    grows_old(90)
    sweep_suggestions()
    read_again(bob, "合同要在月底前签。", keyword="合同")
    assert suggested(bob) == set()
    read_again(bob, THIRD)
    assert suggested(bob) == {BEIDOU}


def test_zero_days_keep_them_for_good(bob: User, settings: Any) -> None:
    settings.SUGGESTION_DAYS = 0
    noticed(bob, FIRST, SECOND)
    grows_old(900)
    sweep_suggestions()
    assert ProfileTag.objects.exists()


def read_again(user: User, text: str, keyword: str = "北斗") -> None:
    """One more memory, newer than those that were read."""
    made = memory(user, text, keyword)
    Episode.objects.filter(pk=made.pk).update(created_at=timezone.now() - timedelta(minutes=30))
    Figures.objects.update(insight_claimed_until=None)
    notice_due_people()
