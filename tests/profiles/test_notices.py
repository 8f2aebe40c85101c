"""S8: whoever is given work hears of it at once on every open page."""

import json

from tests.flows.test_notices import page_of
from tests.profiles.conftest import Cast


def test_the_assignee_is_told_and_nobody_else(cast: Cast) -> None:
    """P6: by its number; the words are read from the API. A repeated request tells nobody again."""
    alice, bob = cast["alice"], cast["bob"]
    with page_of(bob) as page, page_of(alice) as givers:
        alice.api.post("/api/tasks", json={"title": "自己的"})
        body = {"title": "交季度报告", "assignee": bob.user.pk, "client_key": "card-1"}
        task = alice.api.post("/api/tasks", json=body).json()
        alice.api.post("/api/tasks", json=body)
        bob.api.post("/api/tasks", json={"title": "自己的"})
        second = alice.api.post("/api/tasks", json={"title": "还有", "assignee": bob.user.pk}).json()
        notices = [json.loads(page.recv(timeout=20)) for _ in range(2)]
        assert notices == [{"type": "task.assigned", "task_id": made["id"]} for made in (task, second)]
        to_alice = cast["grace"].api.post("/api/tasks", json={"title": "给张岚", "assignee": alice.user.pk}).json()
        assert json.loads(givers.recv(timeout=20)) == {"type": "task.assigned", "task_id": to_alice["id"]}
