"""Who a call is for."""

from typing import Any, Protocol


class Person(Protocol):
    """A user as memory needs to know them: by primary key, which is None for somebody who is not logged in."""

    @property
    def pk(self) -> Any: ...
