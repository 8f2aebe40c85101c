"""The organisation that tests of people and work happen in: Grace leads Alice, who leads Bob, Dan and Erin.

Carol is a stranger from another department; Frank designs flows and leads nobody.
"""

from django.contrib.auth.models import User

from profiles.models import Department, UserProfile
from tests.factories import UserFactory

NAMES = {
    "grace": "顾蕾",
    "alice": "张岚",
    "bob": "王小明",
    "dan": "李小明",
    "erin": "陈晓",
    "carol": "周可",
    "frank": "方恺",
}
MANAGERS = {"alice": "grace", "bob": "alice", "dan": "alice", "erin": "alice"}


def organisation() -> dict[str, User]:
    """Everybody by their user name."""
    made = {name: UserFactory(username=name) for name in NAMES}
    own, other = Department(name="研发中心"), Department(name="市场部")
    own.save()
    other.save()
    for name, user in made.items():
        profile = UserProfile(user=user, display_name=NAMES[name])
        profile.department = other if name == "carol" else own
        profile.save()
    for name, manager in MANAGERS.items():
        report_to(made[name], made[manager])
    return made


def report_to(person: User, manager: User | None) -> None:
    """Puts somebody under another manager."""
    profile = UserProfile.objects.get(pk=person.pk)
    profile.manager = manager
    profile.save()
