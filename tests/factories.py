"""Rows for tests, as the product would make them."""

import uuid
from typing import Any

import factory
from django.contrib.auth.models import User
from django.utils import timezone

from flows.models import Flow
from memory.models import Conversation, Turn, TurnStatus

PASSWORD = "tacit-demo"


class UserFactory(factory.django.DjangoModelFactory[User]):
    class Meta:
        model = User
        skip_postgeneration_save = True

    username = factory.Sequence(lambda number: f"user{number}")
    password = factory.django.Password(PASSWORD)


class ConversationFactory(factory.django.DjangoModelFactory[Conversation]):
    class Meta:
        model = Conversation

    user = factory.SubFactory(UserFactory)
    flow_id = 1
    flow_name = "通用助手"
    flow_version = 1


class TurnFactory(factory.django.DjangoModelFactory[Turn]):
    """A complete turn at the end of its conversation."""

    class Meta:
        model = Turn
        skip_postgeneration_save = True

    conversation = factory.SubFactory(ConversationFactory)
    user = factory.SelfAttribute("conversation.user")
    flow_id = factory.SelfAttribute("conversation.flow_id")
    seq = factory.LazyAttribute(lambda turn: turn.conversation.last_seq + 1)
    input = factory.LazyAttribute(lambda turn: f"Q{(turn.seq + 1) // 2}")
    output = factory.LazyAttribute(lambda turn: f"A{(turn.seq + 1) // 2}")
    status = TurnStatus.COMPLETE
    finished_at = factory.LazyFunction(timezone.now)

    @factory.post_generation
    def advance(self: Turn, create: bool, extracted: Any, **_options: Any) -> None:  # type: ignore[misc]
        self.conversation.last_seq = self.seq + 1
        self.conversation.save(update_fields=["last_seq"])


def linear_definition(system: str = "", text: str = "{{reply.text}}", **settings: Any) -> dict[str, Any]:
    """start → llm → answer."""
    return {
        "schema_version": 1,
        "settings": settings,
        "nodes": [
            {"id": "start", "type": "start"},
            {"id": "reply", "type": "llm", "title": "回答", "config": {"system": system}},
            {"id": "answer", "type": "answer", "config": {"text": text}},
        ],
        "edges": [{"source": "start", "target": "reply"}, {"source": "reply", "target": "answer"}],
    }


def make_flow(definition: dict[str, Any] | None = None, **fields: Any) -> Flow:
    """A published flow."""
    flow = Flow.objects.create(slug=f"flow-{uuid.uuid4().hex[:8]}", name=fields.pop("name", "通用助手"), **fields)
    flow.publish(definition or linear_definition())
    return flow
