"""What a stranger tries on every address of the product that takes an id.

An address that is in none of these tables fails `test_every_address_has_its_case`: whoever adds one says here
what its ids are and what must come of a foreign one.
"""

from collections.abc import Iterator
from typing import Any

from django.urls import URLResolver, get_resolver

SAY = {"input": "我是谁？"}
WITH_IDS: dict[str, list[tuple[str, dict[str, Any] | None]]] = {
    "api/memory/sessions/<uuid:session_id>": [("GET", None), ("PATCH", {"title": "我的"}), ("DELETE", None)],
    "api/memory/sessions/<uuid:session_id>/export": [("GET", None)],
    "api/memory/sessions/<uuid:session_id>/share": [("POST", None), ("DELETE", None)],
    "api/memory/episodes/<uuid:episode_id>": [("GET", None), ("PATCH", {"pinned": True}), ("DELETE", None)],
    "api/memory/episodes/<uuid:episode_id>/take-back": [("POST", None)],
    "api/memory/relations/<int:relation_id>": [("PATCH", {"invalid_at": None})],
    "memory/<uuid:episode_id>/": [("GET", None)],
    "api/memory/erase": [("POST", {"scope": "session", "session_id": "<session_id>"})],
    "api/flows/<int:pk>": [("GET", None)],
    "api/flows/<int:flow_id>/favourite": [("PUT", None), ("DELETE", None)],
    "api/flows/<int:flow_id>/memory": [("GET", None), ("PUT", {"memory_enabled": False})],
    "api/flows/<int:flow_id>/execute": [("POST", SAY)],
    "api/flows/<int:flow_id>/stream": [("POST", SAY)],
    "api/turns/<uuid:turn_id>": [("GET", None)],
    "api/turns/<uuid:turn_id>/events": [("GET", None)],
    "api/turns/<uuid:turn_id>/stop": [("POST", None)],
    "api/turns/<uuid:turn_id>/regenerate": [("POST", None)],
    "api/turns/<uuid:turn_id>/feedback": [("POST", {"rating": "up"})],
    "api/actions/<uuid:action_id>": [("POST", {"accept": True})],
    "api/memory/profile/<int:user_id>": [("GET", None)],
    "api/memory/profile/report/<uuid:report_id>": [("GET", None)],
    "api/memory/profile/report/<uuid:report_id>/sign": [("POST", None)],
    "api/memory/profile/report/<uuid:report_id>/share": [("POST", None)],
    "api/memory/profile/report/<uuid:report_id>/response": [("POST", {"text": "我的"})],
    "profile/reports/<uuid:report_id>/": [("GET", None)],
    "api/tasks/<int:task_id>": [("GET", None), ("PATCH", {"status": "done"})],
    "flows/turns/<uuid:turn_id>/": [("GET", None)],
    "flows/turns/<uuid:turn_id>/recalled/": [("GET", None)],
    "flows/<int:flow_id>/": [("GET", None)],
    "flows/<int:flow_id>/<uuid:session_id>/": [("GET", None)],
}
"""Requests with ids of somebody else, or of a flow that one may not use: each is 404."""

IN_A_FLOW_OF_ONES_OWN: list[tuple[str, dict[str, Any]]] = [
    (f"api/flows/<own_flow>/{verb}", SAY | ids)
    for verb in ("execute", "stream")
    for ids in (
        {"session_id": "<session_id>"},
        {"edit_of": "<turn_id>"},
        {"session_id": "<session_id>", "edit_of": "<turn_id>"},
    )
]
"""POSTs that name somebody else's session or turn in their body, in a flow that one may use."""

LISTS = {
    *("api/memory/sessions", "api/flows", "flows/sessions/", ""),
    *("api/memory/episodes", "api/memory/graph", "memory/", "memory/list/"),
    *("api/tasks", "api/people", "api/memory/profile/access-log", "tasks/"),
    *("api/memory/profile", "profile/", "api/memory/profile/report"),
}
"""They show what is the caller's own."""

FORMS = {
    *("tasks/<int:task_id>/edit/", "tasks/<int:task_id>/status/"),
    *("profile/preferences/", "profile/tags/"),
    *(f"profile/reports/<uuid:report_id>/{verb}/" for verb in ("response", "sign", "share")),
}
"""Forms of a page, which need its token: tried in `tests/profiles/`, with the pages that they stand on."""

WITHOUT_IDS = {
    *("metrics", "api/schema", "api/docs", "^(api|v1)(/|$)", "^flows/.+/$", "i18n/setlang/"),
    *(
        "shared/<str:token>/",
        "api/auth/login",
        "api/auth/logout",
        "accounts/login/",
        "accounts/logout/",
        "api/memory/settings",
        "api/memory/export",
        "api/memory/search",
    ),
}


def routes() -> set[str]:
    """Every address of the product but those of the admin, which has rights of its own."""
    return {route for route in _walk(get_resolver().url_patterns) if not route.startswith("admin/")}


def _walk(patterns: list[Any], prefix: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern.url_patterns, route)
        else:
            yield route
