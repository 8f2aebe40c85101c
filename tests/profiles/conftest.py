"""The organisation, with and without a server in front of it."""

import pytest
from django.contrib.auth.models import User

from tests.people import Person
from tests.profiles.organisation import organisation

Cast = dict[str, Person]


@pytest.fixture
def people(db: None) -> dict[str, User]:
    """Everybody by their user name."""
    return organisation()


@pytest.fixture
def cast(live: str) -> Cast:
    """Everybody, each with an address to talk to."""
    return {name: Person(user, live) for name, user in organisation().items()}
