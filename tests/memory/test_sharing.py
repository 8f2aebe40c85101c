"""S8: one conversation as a document, and as a link for colleagues."""

import json
from http import HTTPStatus

from flows.models import Flow
from memory.models import SharedConversation
from tests.people import Person


def test_a_conversation_is_exported_as_markdown(bob: Person, flow: Flow) -> None:
    session_id = bob.says(flow, "**你好** <b>")["session_id"]
    response = bob.api.get(f"/api/memory/sessions/{session_id}/export")
    assert response.headers["content-type"] == "text/markdown; charset=utf-8"
    assert response.headers["content-disposition"].startswith("attachment; filename=")
    assert "**你好** <b>" in response.text


def test_a_conversation_is_exported_as_data(bob: Person, flow: Flow) -> None:
    answer = bob.says(flow, "你好")
    response = bob.api.get(f"/api/memory/sessions/{answer['session_id']}/export", params={"as": "json"})
    messages = json.loads(response.text)["messages"]
    assert [message["content"] for message in messages] == ["你好", answer["output"]]


def test_a_link_can_be_made_and_ended(bob: Person, flow: Flow) -> None:
    session_id = bob.says(flow, "你好")["session_id"]
    address = f"/api/memory/sessions/{session_id}/share"
    link = bob.api.post(address).json()["url"]
    assert bob.api.post(address).json()["url"] == link, "one link for a session"
    assert bob.api.delete(address).status_code == HTTPStatus.NO_CONTENT
    assert not SharedConversation.objects.exists()


def test_a_stranger_can_neither_export_nor_share(bob: Person, carol: Person, flow: Flow) -> None:
    session_id = bob.says(flow, "你好")["session_id"]
    responses = [
        carol.api.get(f"/api/memory/sessions/{session_id}/export"),
        carol.api.post(f"/api/memory/sessions/{session_id}/share"),
        carol.api.delete(f"/api/memory/sessions/{session_id}/share"),
    ]
    assert {response.status_code for response in responses} == {HTTPStatus.NOT_FOUND}


def test_erasing_a_session_ends_its_link(bob: Person, flow: Flow) -> None:
    session_id = bob.says(flow, "你好")["session_id"]
    bob.api.post(f"/api/memory/sessions/{session_id}/share")
    bob.api.delete(f"/api/memory/sessions/{session_id}")
    assert not SharedConversation.objects.exists()
