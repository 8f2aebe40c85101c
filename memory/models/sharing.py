"""Conversations that their owner lets colleagues read."""

import secrets
from typing import Self

from django.db import models
from django.utils import timezone

from memory.models.conversation import Conversation
from memory.person import Person


def new_token() -> str:
    """A name that cannot be guessed: 32 random bytes."""
    return secrets.token_urlsafe(32)


class SharedConversationQuerySet(models.QuerySet["SharedConversation"]):
    def of(self, user: Person) -> Self:
        """What `user` shares."""
        return self.filter(conversation__user_id=user.pk) if user.pk else self.none()


class SharedConversation(models.Model):
    """A link under which people of the organisation read a session as it stood when it was shared.

    It goes with the session: erasing takes it along. `last_seq` is the newest message that it shows.
    """

    conversation = models.OneToOneField(Conversation, on_delete=models.CASCADE, related_name="shared")
    token = models.CharField(max_length=64, unique=True, default=new_token, editable=False)
    last_seq = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=timezone.now)

    objects = SharedConversationQuerySet.as_manager()

    def __str__(self) -> str:
        return f"share of session {self.conversation_id}"
